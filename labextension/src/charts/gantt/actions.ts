/** What gestures, keys and buttons do to the chart. */
import { clamp } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import type { TaskRef, TaskStore } from '../../store';
import type { ShownWindow } from '../ui/shown-window';
import type { TimeAxis } from '../ui/time-axis';
import type { Emphasis } from './emphasis';
import type { FindBar } from './find-bar';
import type { Place } from './find-task';
import type { Intents } from './gestures';
import { hitTask } from './hit';
import type { GanttLayout } from './layout';
import type { Scene } from './model';
import type { Output } from './output';
import type { Parts } from './parts';
import { isShown } from './picture';
import type { Picker } from './picker';
import type { Folding } from './rows';
import { isFolded, rowOfLane } from './rows';
import type { ToolActions } from './tools';
import type { Viewport } from './viewport';

/** What actions work on. */
export interface Stage {
  readonly store: TaskStore;
  readonly window: ShownWindow;
  readonly axis: TimeAxis;
  readonly viewport: Viewport;
  readonly folding: Folding;
  readonly emphasis: Emphasis;
  readonly picker: Picker;
  readonly findBar: FindBar;
  readonly parts: Parts;
  readonly output: Output;
  readonly t: Translate;
  boxing: boolean;
  /** Whether dependencies are drawn. */
  relating: boolean;
  bandPx: readonly [number, number] | null;
  layout(): GanttLayout | null;
  /** Paint soon. */
  request(): void;
}

const HINT_MS = 1600;

export class Actions implements Intents, ToolActions {
  #hintTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly stage: Stage) {}

  get cleared(): boolean {
    return this.stage.axis.sinceRun !== null;
  }

  stop(): void {
    clearTimeout(this.#hintTimer);
  }

  zoom(factor: number, atPx: number | null = null): void {
    this.#withLayout(layout => { this.stage.viewport.zoom(factor, atPx, layout); });
  }

  pan(px: number): void {
    this.#withLayout(layout => { this.stage.viewport.pan(px, layout); });
  }

  zoomTo(edgesPx: readonly [number, number]): void {
    this.#withLayout(layout => { this.stage.viewport.zoomTo(edgesPx, layout); });
  }

  band(edgesPx: readonly [number, number] | null): void {
    this.#withLayout(({ plotLeftPx, plotWidthPx }) => {
      const inPlot = (px: number): number => clamp(px, plotLeftPx, plotLeftPx + plotWidthPx);
      this.stage.bandPx = edgesPx === null ? null : [inPlot(edgesPx[0]), inPlot(edgesPx[1])];
      this.stage.request();
    });
  }

  fit(): void {
    this.stage.viewport.fit();
  }

  toggleFollow(): void {
    this.stage.viewport.toggleFollow();
  }

  togglePause(): void {
    const { axis, store } = this.stage;
    axis.hold(axis.heldS === null ? store.clock.nowS() : null);
  }

  toggleBox(): void {
    this.stage.boxing = !this.stage.boxing;
    this.stage.parts.canvas.focus();
    this.stage.request();
  }

  toggleLanes(): void {
    const { viewport, folding } = this.stage;
    folding.setAll(!isFolded(viewport.scene?.rows ?? []));
    this.stage.request();
  }

  toggleTables(): void {
    const { tables } = this.stage.parts;
    // What scrolls has to be reached by keys, and what is not seen must not be.
    tables.tabIndex = tables.classList.toggle('tsk-hidden') ? -1 : 0;
    this.stage.request();
  }

  /** Leave out the computes that are over, or show them again. */
  toggleClear(): void {
    this.stage.window.toggleClear(this.stage.store);
    this.stage.viewport.fit();
  }

  scrollRows(rows: number): void {
    this.#withLayout(({ rowPx }) => { this.stage.parts.scroll.scrollTop += rows * rowPx; });
  }

  hover(place: Place | null): void {
    this.stage.picker.pointer = place;
    this.stage.axis.point(place === null ? null : this.#timeAt(place));
    this.stage.request();
  }

  click(place: Place): void {
    const { picker, viewport, emphasis, store } = this.stage;
    const { scene } = viewport;
    this.#withLayout(layout => {
      if (scene !== null) {
        picker.select(picker.find(scene, layout, place, emphasis.sight(store.tables)));
      }
    });
  }

  clearSelection(): void {
    this.stage.picker.select(null);
  }

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
      const margin = Math.max(stopS - startS, 1e-6) * 2;
      viewport.look({ startS: startS - margin, stopS: stopS + margin });
      this.#scrollTo(found.ref.lane);
    }
  }

  toggleRelations(): void {
    this.stage.relating = !this.stage.relating;
    this.stage.request();
  }

  find(): void {
    this.stage.findBar.open();
  }

  nextMatch(direction: 1 | -1): void {
    this.stage.findBar.go(direction);
  }

  copyGroups(): void {
    this.stage.output.copyGroups();
  }

  copyTasks(): void {
    this.stage.output.copyTasks();
  }

  savePicture(): void {
    this.stage.output.savePicture();
  }

  help(): void {
    const { help } = this.stage.parts;
    help.hidden = !help.hidden;
  }

  hint(): void {
    const { hint, scroll } = this.stage.parts;
    if (scroll.scrollHeight > scroll.clientHeight) {
      // The wheel did something: it scrolled the lanes.
      return;
    }
    hint.hidden = false;
    clearTimeout(this.#hintTimer);
    this.#hintTimer = setTimeout(() => {
      hint.hidden = true;
    }, HINT_MS);
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
    this.#withLayout(({ rowPx, plotHeightPx }) => {
      const topPx = rowOfLane(rows, lane) * rowPx;
      const { scroll } = parts;
      scroll.scrollTop = clamp(scroll.scrollTop, topPx + rowPx - plotHeightPx, topPx);
    });
  }

  #timeAt({ xPx }: Place): number | null {
    const layout = this.stage.layout();
    return layout === null ? null : this.stage.viewport.timeAt(xPx, layout);
  }

  #withLayout(act: (layout: GanttLayout) => void): void {
    const layout = this.stage.layout();
    if (layout !== null) {
      act(layout);
    }
  }
}
