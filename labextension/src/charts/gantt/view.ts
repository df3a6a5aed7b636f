/** The Gantt chart in a page: what is seen follows the store and the person, painting waits for frames. */
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import { english } from '../../lib/translate';
import type { PrefixColours, RunWindow, TaskStore } from '../../store';
import { setText } from '../ui/dom';
import type { RevealCell } from '../ui/cell-link';
import type { Painted } from '../ui/frames';
import { FrameLoop } from '../ui/frames';
import { Notice } from '../ui/notice';
import { keepKeys } from '../ui/own-keys';
import { prefersStill, readTheme, watchTheme } from '../ui/page-theme';
import { ShownWindow } from '../ui/shown-window';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import { TimeAxis } from '../ui/time-axis';
import { TOOLBAR_CSS } from '../ui/toolbar-style';
import type { Stage } from './actions';
import { Actions } from './actions';
import { cursorPx } from './axis';
import type { BarLayer } from './bar-layer';
import { Description } from './description';
import { GanttPainter } from './draw';
import { Emphasis } from './emphasis';
import type { Extras, ExtrasHost } from './extras';
import { listenToGestures } from './gestures';
import { WorkerButtons } from './gutter';
import type { GanttLayout } from './layout';
import { gutterPx, layoutGantt } from './layout';
import { Late } from './late';
import { Legend } from './legend';
import type { Scene } from './model';
import type { GanttChart, GanttOptions } from './options';
import type { Shown } from './output';
import type { Parts } from './parts';
import { makeParts } from './parts';
import { Picker, placeOfBar } from './picker';
import { Reporter } from './reporter';
import { Folding, isFolded } from './rows';
import { GANTT_CSS } from './style';
import { Tools } from './tools';
import { Viewport } from './viewport';
import { emptyText } from './words';

const MIN_WIDTH_PX = 200;

/** Put a Gantt chart of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: GanttOptions): GanttChart {
  const view = new GanttView(store, options);
  if (!options.signal.aborted) {
    [SHARED_CSS, TOOLBAR_CSS, GANTT_CSS].forEach(css => { adoptStyles(el, css); });
    el.append(view.el);
    view.start();
  }
  return view;
}

class GanttView implements GanttChart, ExtrasHost {
  readonly window: Stage['window'];
  readonly axis: TimeAxis;
  readonly viewport: Viewport;
  readonly folding = new Folding();
  readonly emphasis: Emphasis;
  readonly picker: Picker;
  readonly parts: Parts;
  readonly actions: Actions;
  readonly notice: Notice;
  readonly reveal: RevealCell;
  readonly signal: AbortSignal;
  readonly t: Translate;
  boxing = false;
  relating = false;
  bandPx: readonly [number, number] | null = null;
  readonly #colourWindow: RunWindow;
  readonly #painter: GanttPainter;
  readonly #layer: BarLayer | null;
  readonly #frames: FrameLoop;
  readonly #report: Reporter;
  readonly #words: Description;
  readonly #tools: Tools;
  readonly #late: Late;
  readonly #workers: WorkerButtons;
  readonly #still = prefersStill();
  #theme: Theme;
  #layout: GanttLayout | null = null;
  #wasLive = false;

  constructor(readonly store: TaskStore, options: GanttOptions) {
    const { signal } = options;
    this.signal = signal;
    this.#colourWindow = { firstRun: options.firstRun ?? 0, lastRun: options.lastRun ?? null };
    this.axis = options.axis ?? new TimeAxis(options.follow ?? this.#colourWindow.lastRun === null);
    this.window = new ShownWindow(this.#colourWindow, this.axis);
    this.t = options.translate ?? english;
    this.parts = makeParts(this.t);
    this.#theme = readTheme(document.body);
    this.#frames = new FrameLoop(() => this.#paint(), signal);
    this.#layer = options.clusters?.layer(this) ?? null;
    this.#painter = new GanttPainter(this.parts.canvas, this.#layer);
    this.#report = new Reporter(options);
    this.viewport = new Viewport(store, this.window, this.axis, this.folding, view => { this.#report.view(view); });
    this.emphasis = new Emphasis(() => { this.#onEmphasis(); }, options.hidden);
    this.picker = new Picker(store, signal, selected => {
      this.#report.selectedKey(selected?.key ?? null);
      this.#late.extras?.findBar.say();
      this.request();
    });
    this.notice = new Notice(signal);
    this.reveal = options.reveal ?? (() => null);
    this.actions = new Actions(this);
    this.#tools = new Tools(this.actions, this.t, signal);
    this.#late = new Late(
      ({ Extras }) => new Extras(this),
      reason => { this.notice.say(this.t('Part of the chart could not be loaded: %1. Reload the page.', reason)); },
      signal
    );
    this.#workers = new WorkerButtons(this.parts.workers, (worker, open) => { this.#fold(worker, open); }, signal, this.t);
    const legend = new Legend(this.emphasis, prefix => this.colourOf(prefix), signal, this.t);
    this.#words = new Description(store, this.window, this.emphasis, this.parts, legend, (prefixes, scene) => {
      this.#late.extras?.fillTables(prefixes, scene);
    }, this.t);
    this.parts.head.append(this.#tools.el);
    this.parts.head.after(this.notice.el);
    this.parts.plot.after(legend.el);
    this.#layer?.place(legend.el, this.parts.tables);
  }

  get el(): HTMLElement {
    return this.parts.root;
  }

  start(): void {
    const { signal } = this;
    this.#readTheme();
    watchTheme(() => { this.#readTheme(); }, signal);
    this.#watchWidth();
    this.store.subscribe(() => { this.#onNews(); }, signal);
    this.axis.subscribe(() => { this.request(); }, signal);
    keepKeys(this.parts.root, signal);
    const { canvas, scroll, hint } = this.parts;
    canvas.addEventListener('focus', () => { hint.hidden = true; }, { signal });
    scroll.addEventListener('scroll', () => { this.request(); }, { signal, passive: true });
    listenToGestures(canvas, this.actions, () => this.boxing, signal);
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
    this.#paint();
    this.request();
    this.use(() => {
      this.#words.tablesAreHere();
      this.request();
    });
  }

  use(act: (extras: Extras) => void): void {
    this.#late.use(act);
  }

  setFollow(follow: boolean): void {
    this.viewport.setFollow(follow);
  }

  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    this.viewport.setTimeRange(range);
  }

  setSelectedKey(key: string | null): void {
    this.#report.knownKey(key);
    this.picker.selectKey(key);
  }

  timeRange(): [startS: number, stopS: number] | null {
    const span = this.viewport.refresh()?.span;
    return span === undefined ? null : [span.startS, span.stopS];
  }

  layout(): GanttLayout | null {
    return this.#layout;
  }

  request(): void {
    this.#frames.request();
  }

  colourOf(prefix: string): string {
    return this.#colours().colour(this.store.tables.prefixId(prefix));
  }

  shown(): Shown {
    const { canvas, state } = this.parts;
    return { scene: this.viewport.scene, prefixes: this.#words.prefixes, canvas, title: state.textContent, theme: this.#theme };
  }

  #stop(): void {
    this.actions.stop();
    this.#words.stop();
    this.#report.stop();
    this.parts.root.remove();
  }

  #onNews(): void {
    this.#wasLive ||= this.store.clock.active;
    this.#late.extras?.findBar.refresh('more');
    if (this.axis.heldS === null) {
      this.request();
    }
  }

  #onEmphasis(): void {
    this.#report.hidden(this.emphasis);
    this.#late.extras?.findBar.refresh('others');
    this.request();
  }

  #fold(worker: string, collapsed: boolean): void {
    this.folding.set(worker, collapsed);
    this.request();
  }

  #colours(): PrefixColours {
    return this.store.colours(this.#colourWindow);
  }

  #readTheme(): void {
    const { root } = this.parts;
    this.#theme = readTheme(root.isConnected ? root : document.body);
    root.classList.toggle('tsk-dark', this.#theme.dark);
    this.request();
  }

  #watchWidth(): void {
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(() => { this.request(); });
    observer.observe(this.parts.plot);
    this.signal.addEventListener('abort', () => { observer.disconnect(); }, { once: true });
  }

  #paint(): Painted {
    const scene = this.viewport.refresh();
    const { head, scroll, empty } = this.parts;
    this.#words.refresh(scene);
    this.#layer?.refresh();
    const shown = scene !== null && scene.rows.length > 0;
    head.hidden = !shown && !this.actions.cleared;
    scroll.hidden = !shown;
    empty.hidden = shown;
    this.#refreshTools(scene);
    if (!shown) {
      setText(empty, emptyText(this.store, scene, this.actions.cleared, this.t));
      this.#late.extras?.details.hide();
      return 'still';
    }
    this.#paintScene(scene);
    if (scene.growing && !this.#still) {
      return 'growing';
    }
    return this.#painter.unfinished && !scene.growing ? 'unfinished' : this.#painter.rough ? 'rough' : 'still';
  }

  #paintScene(scene: Scene): void {
    const { scroll, content } = this.parts;
    const layout = this.#lay(scene);
    this.#layout = layout;
    scroll.style.height = `${layout.heightPx}px`;
    content.style.height = `${layout.contentPx}px`;
    this.#workers.refresh(layout);
    this.#late.extras?.locator.refresh(scene);
    const selected = this.picker.selected(scene);
    const colours = this.#colours();
    const sight = this.emphasis.sight(this.store.tables);
    const hovered = this.#hover(scene, layout, sight);
    const overlay = this.#late.extras?.details.select(selected, scene) ?? null;
    this.#painter.paint(this.store, {
      layout,
      scene,
      sight,
      theme: this.#theme,
      prefixColour: prefix => colours.colour(prefix),
      cursorPx: cursorPx(layout, scene, this.axis.cursorS),
      bandPx: this.bandPx,
      overlay,
      hovered: hovered === null ? null : placeOfBar(hovered, scene.nowS),
      selected: selected === null ? null : placeOfBar(selected, scene.nowS)
    });
  }

  #lay({ rows, span, zeroS }: Scene): GanttLayout {
    const { scroll } = this.parts;
    const widthPx = Math.max(scroll.clientWidth, MIN_WIDTH_PX);
    const leftPx = this.axis.reserve(this, gutterPx(rows, widthPx));
    return layoutGantt({ widthPx, rows, span, zeroS, scrollPx: scroll.scrollTop, leftPx });
  }

  /** Bars move under a pointer that rests, so what it is on is found again for each painting. */
  #hover(scene: Scene, layout: GanttLayout, sight: ReturnType<Emphasis['sight']>): Parameters<typeof placeOfBar>[0] | null {
    const { canvas } = this.parts;
    const { pointer } = this.picker;
    const found = pointer === null ? null : this.picker.find(scene, layout, pointer, sight);
    const above = pointer === null ? null : (this.#layer?.find(scene, layout, pointer, found !== null) ?? null);
    canvas.style.cursor = this.boxing ? 'crosshair' : found === null ? 'default' : 'pointer';
    this.#late.extras?.details.point(above ?? found, scene);
    return above !== null || found === null || found.kind === 'worker' ? null : found;
  }

  #refreshTools(scene: Scene | null): void {
    this.#tools.refresh({
      following: this.viewport.following,
      paused: this.axis.heldS !== null,
      boxing: this.boxing,
      tables: !this.parts.tables.classList.contains('tsk-hidden'),
      cleared: this.actions.cleared,
      live: this.#wasLive || this.store.clock.active,
      collapsed: scene?.rows.some(row => row.kind === 'worker') === true ? isFolded(scene.rows) : null
    });
  }
}
