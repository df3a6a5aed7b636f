/** What the buttons of a chart over time do. */
import type { Translate } from '../../lib/translate';
import type { Theme } from '../../lib/theme';
import type { TaskStore } from '../../store';
import { type LegendEntry, pictureOf } from '../gantt/exporter';
import type { ChartActions, TimeActions } from '../ui/chart-tools';
import { ChartTools } from '../ui/chart-tools';
import type { Navigator } from '../ui/navigator';
import { Notice } from '../ui/notice';
import { Outlet } from '../ui/outlet';
import type { ShownWindow } from '../ui/shown-window';
import type { TextTable } from '../ui/text-table';
import type { TimeAxis } from '../ui/time-axis';
import type { TimeFrame } from '../ui/time-frame';
import type { SeriesParts } from './parts';

/** What the chart gives away, and what it is asked to do. */
export interface SeriesStage {
  readonly name: string;
  readonly store: TaskStore;
  readonly window: ShownWindow;
  readonly axis: TimeAxis;
  readonly navigator: Navigator<TimeFrame>;
  readonly parts: SeriesParts;
  readonly t: Translate;
  readonly signal: AbortSignal;
  /** Buttons that concern all charts of a dashboard are not here then. */
  readonly joined: boolean;
  theme(): Theme;
  title(): string;
  legend(): readonly LegendEntry[];
  tables(): readonly TextTable[];
  /** Paint soon. */
  request(): void;
}

export class SeriesControls implements ChartActions, TimeActions {
  readonly #tools: ChartTools;
  readonly #outlet: Outlet;
  #wasLive = false;

  constructor(private readonly stage: SeriesStage) {
    const { parts, t, signal, joined } = stage;
    const notice = new Notice(signal);
    this.#outlet = new Outlet(notice, t);
    this.#tools = new ChartTools(this, this, !joined, t, signal);
    parts.top.append(this.#tools.el);
    parts.top.after(notice.el);
  }

  /** @param shown whether there is something to plot */
  refresh(shown: boolean): void {
    const { axis, store, navigator, parts } = this.stage;
    this.#wasLive ||= store.clock.active;
    const cleared = axis.sinceRun !== null;
    this.#tools.el.hidden = !shown && (!cleared || this.stage.joined);
    this.#tools.refresh({
      paused: axis.heldS !== null,
      cleared,
      live: this.#wasLive,
      following: navigator.following,
      table: !parts.tables.classList.contains('tsk-hidden')
    });
  }

  fit(): void {
    this.stage.navigator.fit();
  }

  toggleFollow(): void {
    this.stage.navigator.toggleFollow();
  }

  togglePause(): void {
    const { axis, store } = this.stage;
    axis.hold(axis.heldS === null ? store.clock.nowS() : null);
  }

  toggleClear(): void {
    this.stage.window.toggleClear(this.stage.store);
    this.stage.navigator.fit();
  }

  toggleTable(): void {
    const { tables } = this.stage.parts;
    // What scrolls has to be reached by keys, and what is not seen must not be.
    tables.tabIndex = tables.classList.toggle('tsk-hidden') ? -1 : 0;
    this.stage.request();
  }

  copy(): void {
    this.#outlet.copy(this.stage.tables());
  }

  savePicture(): void {
    const { parts, name } = this.stage;
    const picture = pictureOf(parts.canvas, this.stage.title(), this.stage.legend(), this.stage.theme());
    this.#outlet.save(picture, `taskscope-${name}.png`);
  }
}
