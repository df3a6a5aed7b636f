/** Selecting one task after another, by keys or by what was found, and bringing it into sight. */
import { clamp } from '../../../lib/span';
import type { TaskRef, TaskStore } from '../../../store';
import type { TrackContext } from '../../timeline/track';
import type { Emphasis } from '../legend';
import type { FoundOpen, FoundTask } from './find-task';
import { hitTask } from './find-task';
import type { LaneLayout } from '../layout';
import type { Folding, Row } from '../rows';
import { rowOfLane } from '../rows';
import type { Scene } from '../scene';
import { isShown } from '../scene';
import type { Picker } from './selection';
import { placeOfBar } from './selection';

/** What is seen beside a task that fills the chart, as a part of its duration on each side. */
const MARGIN = 0.1;

/** What steps are taken on. */
export interface StepsOn {
  readonly store: TaskStore;
  readonly emphasis: Emphasis;
  readonly picker: Picker;
  readonly folding: Folding;
  readonly context: TrackContext;
  scene(): Scene | null;
  layout(): LaneLayout | null;
  /** The rows there are now, after some were opened. */
  rows(): readonly Row[];
}

export class Steps {
  constructor(private readonly on: StepsOn) {}

  /** Select an ended task and bring it into sight. */
  goTo(ref: TaskRef): void {
    const found = this.on.picker.ended(ref, this.on.scene());
    if (found !== null) {
      this.goToFound(found);
    }
  }

  /** The same of one that may be in flight. */
  goToFound(found: FoundTask | FoundOpen): void {
    const { picker, context } = this.on;
    const place = placeOfBar(found, this.on.scene()?.nowS ?? 0);
    picker.select(found);
    context.navigator.reveal(place);
    this.#scrollTo(place.lane);
    context.request();
  }

  stepTask(direction: 1 | -1): void {
    const { store, emphasis } = this.on;
    const scene = this.on.scene();
    const from = this.#start(scene);
    const lane = from === null ? undefined : store.lane(from.lane);
    if (scene === null || from === null || lane === undefined) {
      return;
    }
    const isFirst = store.selection.current?.ref === null || store.selection.current === null;
    const filter = emphasis.filter(store.tables);
    for (let i = from.i + (isFirst ? 0 : direction); i >= 0 && i < lane.n; i += direction) {
      if (isShown(lane, i, scene.runs, filter)) {
        this.goTo({ lane: from.lane, row: lane.row[i] ?? 0, startS: lane.startS[i] ?? 0 });
        return;
      }
    }
  }

  stepLane(direction: 1 | -1): void {
    const { store, emphasis } = this.on;
    const scene = this.on.scene();
    const from = this.#start(scene);
    const start = from === null ? undefined : store.lane(from.lane);
    if (scene === null || from === null || start === undefined) {
      return;
    }
    const timeS = ((start.startS[from.i] ?? 0) + (start.stopS[from.i] ?? 0)) / 2;
    const filter = emphasis.filter(store.tables);
    const ids = scene.lanes.map(lane => lane.id);
    for (let k = ids.indexOf(from.lane) + direction; k >= 0 && k < ids.length; k += direction) {
      const id = ids[k] ?? 0;
      const lane = store.lane(id);
      const i = lane === undefined ? null : hitTask(lane, timeS, Infinity, scene.runs, filter);
      if (lane !== undefined && i !== null) {
        this.goTo({ lane: id, row: lane.row[i] ?? 0, startS: lane.startS[i] ?? 0 });
        return;
      }
    }
  }

  zoomToSelected(): void {
    const { picker, context } = this.on;
    const scene = this.on.scene();
    const found = scene === null ? null : picker.selected(scene);
    if (found?.kind === 'ended') {
      const { startS, stopS } = found.detail;
      const margin = Math.max(stopS - startS, 1e-6) * MARGIN;
      context.navigator.show({ startS: startS - margin, stopS: stopS + margin });
      this.#scrollTo(found.ref.lane);
    }
  }

  /** Where stepping begins: the selected task, else one in the middle of what is in sight. */
  #start(scene: Scene | null): { lane: number; i: number } | null {
    const { store, picker } = this.on;
    const layout = this.on.layout();
    const selected = scene === null ? null : picker.selected(scene);
    if (selected?.kind === 'ended') {
      const { lane, startS, row } = selected.ref;
      return { lane, i: store.lane(lane)?.find(startS, row) ?? 0 };
    }
    const row = layout?.boxes.map(box => box.row).find(shown => shown.kind === 'lane' || shown.collapsed);
    const id = row === undefined ? null : row.kind === 'lane' ? row.id : (row.lanes[0] ?? null);
    const lane = id === null ? undefined : store.lane(id);
    if (scene === null || id === null || lane === undefined) {
      return null;
    }
    const middleS = (scene.span.startS + scene.span.stopS) / 2;
    const i = hitTask(lane, middleS, Infinity, scene.runs, this.on.emphasis.filter(store.tables));
    return i === null ? null : { lane: id, i };
  }

  #scrollTo(lane: number): void {
    const { folding, context } = this.on;
    const worker = this.on.scene()?.rows.find(row => row.kind === 'worker' && row.collapsed && row.lanes.includes(lane));
    if (worker?.kind === 'worker') {
      folding.set(worker.worker, false);
    }
    const layout = this.on.layout();
    if (layout !== null) {
      const topPx = rowOfLane(this.on.rows(), lane) * layout.rowPx;
      context.scrollTo(clamp(layout.scrollPx, topPx + layout.rowPx - layout.plotHeightPx, topPx));
    }
  }
}
