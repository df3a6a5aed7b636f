/** What gestures, keys and buttons do to the chart. */
import { clamp } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { ShownWindow } from '../ui/shown-window';
import type { TimeAxis } from '../ui/time-axis';
import type { Emphasis } from './emphasis';
import type { Extras } from './extras';
import type { Place } from './find-task';
import type { Intents } from './gestures';
import type { GanttLayout } from './layout';
import type { Parts } from './parts';
import type { Picker } from './picker';
import type { Folding } from './rows';
import { isFolded } from './rows';
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
  readonly parts: Parts;
  readonly t: Translate;
  boxing: boolean;
  /** Whether dependencies are drawn. */
  relating: boolean;
  bandPx: readonly [number, number] | null;
  layout(): GanttLayout | null;
  /** Do something with what comes later, as soon as it is there. */
  use(act: (extras: Extras) => void): void;
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

  stepTask(direction: 1 | -1): void {
    this.stage.use(({ steps }) => { steps.stepTask(direction); });
  }

  stepLane(direction: 1 | -1): void {
    this.stage.use(({ steps }) => { steps.stepLane(direction); });
  }

  zoomToSelected(): void {
    this.stage.use(({ steps }) => { steps.zoomToSelected(); });
  }

  toggleRelations(): void {
    this.stage.relating = !this.stage.relating;
    this.stage.request();
  }

  find(): void {
    this.stage.use(({ findBar }) => { findBar.open(); });
  }

  nextMatch(direction: 1 | -1): void {
    this.stage.use(({ findBar }) => { findBar.go(direction); });
  }

  copyGroups(): void {
    this.stage.use(({ output }) => { output.copyGroups(); });
  }

  copyTasks(): void {
    this.stage.use(({ output }) => { output.copyTasks(); });
  }

  savePicture(): void {
    this.stage.use(({ output }) => { output.savePicture(); });
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
