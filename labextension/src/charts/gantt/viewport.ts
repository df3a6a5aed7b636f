/** Which tasks a Gantt chart shows, and how gestures change that; no DOM. */
import type { RunWindow, TaskStore } from '../../store';
import { Navigator } from '../ui/navigator';
import type { TimeAxis } from '../ui/time-axis';
import type { View } from '../ui/time-frame';
import { LaneList } from './lanes';
import type { Scene } from './model';
import { sceneOf } from './model';
import type { Folding } from './rows';

export class Viewport extends Navigator<Scene> {
  /** @param chosen is called when a gesture changed the view */
  constructor(store: TaskStore, window: RunWindow, axis: TimeAxis, folding: Folding, chosen: (view: View) => void) {
    const lanes = new LaneList(store, folding);
    super(view => sceneOf(store, window, view, (...of) => lanes.refresh(...of), axis.heldS), axis, chosen);
  }

  get scene(): Scene | null {
    return this.frame;
  }
}
