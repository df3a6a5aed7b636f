/** Which tasks a Gantt chart shows, and how gestures change that; no DOM. */
import type { RunWindow, TaskStore } from '../../store';
import { Navigator } from '../ui/navigator';
import type { TimeAxis } from '../ui/time-axis';
import type { View } from '../ui/time-frame';
import type { Scene } from './model';
import { sceneOf } from './model';

export class Viewport extends Navigator<Scene> {
  /** @param chosen is called when a gesture changed the view */
  constructor(store: TaskStore, window: RunWindow, axis: TimeAxis, chosen: (view: View) => void) {
    super(view => sceneOf(store, window, view), axis, chosen);
  }

  get scene(): Scene | null {
    return this.frame;
  }
}
