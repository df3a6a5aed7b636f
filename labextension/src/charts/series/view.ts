/** A chart over time in a page: follows the store, the shared time axis and the person; painting waits for frames. */
import { clamp, pxAt, widthS } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import { english } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { LegendEntry } from '../gantt/exporter';
import { Reporter } from '../gantt/reporter';
import { element, setText } from '../ui/dom';
import type { Painted } from '../ui/frames';
import { FrameLoop } from '../ui/frames';
import { Navigator } from '../ui/navigator';
import { keepKeys } from '../ui/own-keys';
import { prefersStill, readTheme, watchTheme } from '../ui/page-theme';
import { ShownWindow } from '../ui/shown-window';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import type { TextTable } from '../ui/text-table';
import { TimeAxis } from '../ui/time-axis';
import type { TimeFrame } from '../ui/time-frame';
import { timeFrame } from '../ui/time-frame';
import { TOOLBAR_CSS } from '../ui/toolbar-style';
import type { Brush } from './canvas';
import { SeriesCanvas } from './canvas';
import { SeriesControls } from './controls';
import { listenToPlot } from './gestures';
import type { PlotSpec, SeriesLayout } from './layout';
import { gutterPx, layoutSeries } from './layout';
import type { SeriesOptions } from './options';
import type { SeriesParts } from './parts';
import { makeSeriesParts } from './parts';
import { SERIES_CSS } from './style';

/** What is particular to one kind of chart. */
export interface SeriesContent {
  readonly name: string;
  readonly label: string;
  readonly css: string;
  /** Put own elements into head and foot, once; `changed` asks for a painting. */
  build(parts: SeriesParts, changed: () => void, signal: AbortSignal): void;
  /** Bring words up to date; returns what to say where there is nothing to plot, else null. */
  describe(frame: TimeFrame | null): string | null;
  plots(frame: TimeFrame): readonly PlotSpec[];
  draw(brush: Brush): void;
  /** What there is at a time, a line each; null: nothing. */
  readout(timeS: number): readonly string[] | null;
  /** The chart in a line, for a picture of it. */
  title(): string;
  legend(): readonly LegendEntry[];
  /** What there is as tables of text. */
  tables(): readonly TextTable[];
}

export interface SeriesChart {
  readonly el: HTMLElement;
}

const MIN_WIDTH_PX = 200;
const HINT_MS = 1600;
const KEY_STEPS = 50;

/** Put a chart over time into `el`, until the signal aborts. */
export function mountSeries(
  el: HTMLElement,
  store: TaskStore,
  options: SeriesOptions,
  makeContent: (store: TaskStore, window: ShownWindow, t: Translate) => SeriesContent
): SeriesChart {
  const whole = { firstRun: options.firstRun ?? 0, lastRun: options.lastRun ?? null };
  const axis = options.axis ?? new TimeAxis(options.follow ?? whole.lastRun === null);
  const window = new ShownWindow(whole, axis);
  const content = makeContent(store, window, options.translate ?? english);
  const view = new SeriesView(store, window, axis, options, content);
  if (!options.signal.aborted) {
    [SHARED_CSS, TOOLBAR_CSS, SERIES_CSS, content.css].forEach(css => { adoptStyles(el, css); });
    el.append(view.el);
    view.start();
  }
  return view;
}

class SeriesView implements SeriesChart {
  readonly #parts: SeriesParts;
  readonly #canvas: SeriesCanvas;
  readonly #navigator: Navigator<TimeFrame>;
  readonly #controls: SeriesControls;
  readonly #report: Reporter;
  readonly #frames: FrameLoop;
  readonly #signal: AbortSignal;
  readonly #still = prefersStill();
  readonly #t: Translate;
  #theme: Theme;
  #layout: SeriesLayout | null = null;
  #bandPx: readonly [number, number] | null = null;
  #hovering = false;
  #keyed = false;
  #hintTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly store: TaskStore,
    window: ShownWindow,
    private readonly axis: TimeAxis,
    options: SeriesOptions,
    private readonly content: SeriesContent
  ) {
    this.#signal = options.signal;
    this.#t = options.translate ?? english;
    this.#parts = makeSeriesParts(content.name, content.label, this.#t);
    this.#canvas = new SeriesCanvas(this.#parts.canvas);
    this.#theme = readTheme(document.body);
    this.#report = new Reporter(options);
    this.#navigator = new Navigator(
      view => timeFrame(store, window, view, this.axis.heldS),
      this.axis,
      view => { this.#report.view(view); }
    );
    this.#controls = new SeriesControls({
      name: content.name,
      store,
      window,
      axis,
      navigator: this.#navigator,
      parts: this.#parts,
      t: this.#t,
      signal: options.signal,
      joined: options.joined ?? false,
      theme: () => this.#theme,
      title: () => content.title(),
      legend: () => content.legend(),
      tables: () => content.tables(),
      request: () => { this.#frames.request(); }
    });
    this.#frames = new FrameLoop(() => this.#paint(), options.signal);
  }

  get el(): HTMLElement {
    return this.#parts.root;
  }

  start(): void {
    const signal = this.#signal;
    const soon = (): void => { this.#frames.request(); };
    this.content.build(this.#parts, soon, signal);
    this.#readTheme();
    watchTheme(() => { this.#readTheme(); }, signal);
    this.store.subscribe(soon, signal);
    this.axis.subscribe(soon, signal);
    this.#watchWidth();
    keepKeys(this.#parts.root, signal);
    this.#listen();
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
    this.#paint();
    soon();
  }

  #stop(): void {
    clearTimeout(this.#hintTimer);
    this.#report.stop();
    this.#parts.root.remove();
  }

  #listen(): void {
    const { canvas } = this.#parts;
    const signal = this.#signal;
    listenToPlot(
      canvas,
      {
        zoom: (factor, atPx) => { this.#navigate(box => { this.#navigator.zoom(factor, atPx, box); }); },
        pan: px => { this.#navigate(box => { this.#navigator.pan(px, box); }); },
        band: edgesPx => {
          this.#bandPx = edgesPx;
          this.#frames.request();
        },
        zoomTo: edgesPx => { this.#navigate(box => { this.#navigator.zoomTo(edgesPx, box); }); },
        fit: () => { this.#navigator.fit(); },
        toggleFollow: () => { this.#navigator.toggleFollow(); },
        hover: place => { this.#hover(place?.xPx ?? null); },
        step: direction => { this.#step(direction); },
        clear: () => { this.#hover(null); },
        click: () => { canvas.focus(); },
        hint: () => { this.#hint(); }
      },
      signal
    );
    canvas.addEventListener('focus', () => { this.#parts.hint.hidden = true; }, { signal });
  }

  #navigate(act: (layout: SeriesLayout) => void): void {
    if (this.#layout !== null) {
      act(this.#layout);
    }
  }

  /** Move the cursor by keys; what is there is read out. */
  #step(direction: number): void {
    const { frame } = this.#navigator;
    if (frame !== null) {
      const { startS, stopS } = frame.span;
      const from = this.axis.cursorS ?? (direction > 0 ? startS : stopS);
      this.#keyed = this.#hovering = true;
      this.axis.point(clamp(from + (direction * widthS(frame.span)) / KEY_STEPS, startS, stopS));
    }
  }

  #hover(xPx: number | null): void {
    const timeS = xPx === null || this.#layout === null ? null : this.#navigator.timeAt(xPx, this.#layout);
    this.#keyed = false;
    this.#hovering = timeS !== null;
    this.axis.point(timeS);
  }

  #hint(): void {
    const { hint } = this.#parts;
    hint.hidden = false;
    clearTimeout(this.#hintTimer);
    this.#hintTimer = setTimeout(() => { hint.hidden = true; }, HINT_MS);
  }

  #readTheme(): void {
    const { root } = this.#parts;
    this.#theme = readTheme(root.isConnected ? root : document.body);
    root.classList.toggle('tsk-dark', this.#theme.dark);
    this.#frames.request();
  }

  #watchWidth(): void {
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(() => { this.#frames.request(); });
    observer.observe(this.#parts.plot);
    this.#signal.addEventListener('abort', () => { observer.disconnect(); }, { once: true });
  }

  #paint(): Painted {
    const frame = this.#navigator.refresh();
    const { canvas, empty, readout, plot } = this.#parts;
    const cleared = frame === null && this.axis.sinceRun !== null ? this.#t('cleared: waiting for the next compute') : null;
    const said = this.content.describe(frame);
    const nothing = cleared ?? said;
    canvas.hidden = nothing !== null;
    empty.hidden = nothing === null;
    setText(empty, nothing ?? '');
    this.#controls.refresh(nothing === null);
    if (nothing !== null || frame === null) {
      readout.hidden = true;
      return 'still';
    }
    const specs = this.content.plots(frame);
    const leftPx = this.axis.reserve(this, gutterPx(specs));
    const widthPx = Math.max(plot.clientWidth, MIN_WIDTH_PX);
    const layout = layoutSeries({ widthPx, leftPx, specs, span: frame.span, zeroS: frame.zeroS });
    this.#layout = layout;
    const pointed = { cursorS: this.axis.cursorS, bandPx: this.#bandPx };
    this.#canvas.paint(layout, frame, this.#theme, pointed, brush => { this.content.draw(brush); });
    this.#read(frame, layout);
    return frame.growing && !this.#still ? 'growing' : 'still';
  }

  /** Show what is at the cursor while it is this chart's own. */
  #read(frame: TimeFrame, layout: SeriesLayout): void {
    const { readout } = this.#parts;
    const { cursorS } = this.axis;
    const lines = cursorS === null || !this.#hovering ? null : this.content.readout(cursorS);
    readout.hidden = lines === null;
    if (lines === null || cursorS === null) {
      return;
    }
    readout.setAttribute('aria-live', this.#keyed ? 'polite' : 'off');
    if (readout.textContent !== lines.join('')) {
      readout.replaceChildren(...lines.map(line => element('div', {}, line)));
    }
    const x = layout.plotLeftPx + pxAt(frame.span, layout.plotWidthPx, cursorS);
    const right = x + 12 + readout.offsetWidth <= layout.widthPx;
    readout.style.left = `${Math.max(right ? x + 12 : x - 12 - readout.offsetWidth, 4)}px`;
  }
}
