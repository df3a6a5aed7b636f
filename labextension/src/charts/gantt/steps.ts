/** Selecting one task after another, by keys or by what was found, and bringing it into sight. */
import { clamp } from '../../lib/span';
import type { TaskRef } from '../../store';
import type { Stage } from './actions';
import { hitTask } from './hit';
import type { Scene } from './model';
import { isShown } from './picture';
import { rowOfLane } from './rows';

/** What is seen beside a task that fills the chart, as a part of its duration on each side. */
const MARGIN = 0.1;

export class Steps {
  constructor(private readonly stage: Stage) {}

  /** Select an ended task and bring it into sight. */
  goTo(ref: TaskRef): void {
    const { picker, viewport } = this.stage;
    const found = picker.ended(ref);
    if (found !== null) {
      picker.selectRef(ref);
      viewport.reveal(found.detail);
      this.#scrollTo(ref.lane);
      this.stage.request();
    }
  }

  stepTask(direction: 1 | -1): void {
    const { store, viewport, emphasis } = this.stage;
    const { scene } = viewport;
    const from = this.#start(scene);
    const lane = from === null ? undefined : store.lane(from.lane);
    if (scene === null || from === null || lane === undefined) {
      return;
    }
    const isFirst = store.selection.current?.ref === null || store.selection.current === null;
    const sight = emphasis.sight(store.tables);
    for (let i = from.i + (isFirst ? 0 : direction); i >= 0 && i < lane.n; i += direction) {
      if (isShown(lane, i, scene.runs, sight)) {
        this.goTo({ lane: from.lane, row: lane.row[i] ?? 0, startS: lane.startS[i] ?? 0 });
        return;
      }
    }
  }

  stepLane(direction: 1 | -1): void {
    const { store, viewport, emphasis } = this.stage;
    const { scene } = viewport;
    const from = this.#start(scene);
    const start = from === null ? undefined : store.lane(from.lane);
    if (scene === null || from === null || start === undefined) {
      return;
    }
    const timeS = ((start.startS[from.i] ?? 0) + (start.stopS[from.i] ?? 0)) / 2;
    const sight = emphasis.sight(store.tables);
    const ids = scene.lanes.map(lane => lane.id);
    for (let k = ids.indexOf(from.lane) + direction; k >= 0 && k < ids.length; k += direction) {
      const id = ids[k] ?? 0;
      const lane = store.lane(id);
      const i = lane === undefined ? null : hitTask(lane, timeS, Infinity, scene.runs, sight);
      if (lane !== undefined && i !== null) {
        this.goTo({ lane: id, row: lane.row[i] ?? 0, startS: lane.startS[i] ?? 0 });
        return;
      }
    }
  }

  zoomToSelected(): void {
    const { viewport, picker } = this.stage;
    const found = viewport.scene === null ? null : picker.selected(viewport.scene);
    if (found?.kind === 'ended') {
      const { startS, stopS } = found.detail;
      const margin = Math.max(stopS - startS, 1e-6) * MARGIN;
      viewport.look({ startS: startS - margin, stopS: stopS + margin });
      this.#scrollTo(found.ref.lane);
    }
  }

  /** Where stepping begins: the selected task, else one in the middle of what is in sight. */
  #start(scene: Scene | null): { lane: number; i: number } | null {
    const { store, picker } = this.stage;
    const layout = this.stage.layout();
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
    const i = hitTask(lane, middleS, Infinity, scene.runs, this.stage.emphasis.sight(store.tables));
    return i === null ? null : { lane: id, i };
  }

  #scrollTo(lane: number): void {
    const { viewport, folding, parts } = this.stage;
    const worker = viewport.scene?.rows.find(row => row.kind === 'worker' && row.collapsed && row.lanes.includes(lane));
    if (worker?.kind === 'worker') {
      folding.set(worker.worker, false);
    }
    const rows = viewport.refresh()?.rows ?? [];
    const layout = this.stage.layout();
    if (layout !== null) {
      const topPx = rowOfLane(rows, lane) * layout.rowPx;
      const { scroll } = parts;
      scroll.scrollTop = clamp(scroll.scrollTop, topPx + layout.rowPx - layout.plotHeightPx, topPx);
    }
  }
}
