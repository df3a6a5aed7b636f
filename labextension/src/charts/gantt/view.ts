/** The Gantt chart in a page: what is seen follows the store and the person, painting waits for frames. */
import { clamp, pan, timeAt, widthS, zoom } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import { english } from '../../lib/translate';
import type { RunWindow, TaskDetail, TaskStore } from '../../store';
import { setText } from '../ui/dom';
import { FrameLoop } from '../ui/frames';
import type { Painted } from '../ui/frames';
import { prefersStill, readTheme, watchTheme } from '../ui/page-theme';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import type { TaskRef } from './draw';
import { GanttPainter } from './draw';
import { listenToGestures } from './gestures';
import { countTouching, hitTask } from './hit';
import type { GanttLayout } from './layout';
import { laneAt, layoutGantt } from './layout';
import type { PrefixSummary } from './legend';
import { fillLegend, fillTable, summarise } from './legend';
import type { Scene, View } from './model';
import { sceneOf } from './model';
import type { Parts } from './parts';
import { makeParts } from './parts';
import { Reporter } from './reporter';
import { GANTT_CSS } from './style';
import { tipOf } from './tooltip';
import { emptyText, labelText, stateText } from './words';

export interface GanttOptions {
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  readonly firstRun?: number;
  /** Null or left out: and all that come. */
  readonly lastRun?: number | null;
  /** Whether the chart starts by moving with the present; on where the window is open. */
  readonly follow?: boolean;
  readonly translate?: Translate;
  /** The person switched following on or off. */
  readonly onFollow?: (follow: boolean) => void;
  /** The person chose a span, in seconds after the recorder's zero; null: no certain one. */
  readonly onTimeRange?: (range: [startS: number, stopS: number] | null) => void;
  /** The person selected a task, or none. */
  readonly onSelectedKey?: (key: string | null) => void;
}

export interface GanttChart {
  readonly el: HTMLElement;
  /** These three act as the person would, but are not reported back. */
  setFollow(follow: boolean): void;
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void;
  clearSelection(): void;
  /** The span that is shown, null before the first compute. */
  timeRange(): [startS: number, stopS: number] | null;
}

const HINT_MS = 1600;
const TABLE_MS = 5000;
const WHEEL_LANES = 3;
const HIT_PX = 3;
const MIN_FOLLOW_S = 1e-3;

/** Put a Gantt chart of some computes into `el`, until `signal` aborts. */
export function mount(el: HTMLElement, store: TaskStore, options: GanttOptions): GanttChart {
  const view = new GanttView(store, options);
  if (!options.signal.aborted) {
    adoptStyles(el, SHARED_CSS);
    adoptStyles(el, GANTT_CSS);
    el.append(view.el);
    view.start();
  }
  return view;
}

class GanttView implements GanttChart {
  readonly #store: TaskStore;
  readonly #window: RunWindow;
  readonly #signal: AbortSignal;
  readonly #t: Translate;
  readonly #parts: Parts;
  readonly #painter: GanttPainter;
  readonly #frames: FrameLoop;
  readonly #report: Reporter;
  readonly #still = prefersStill();
  #view: View;
  #theme: Theme;
  #widthPx = 0;
  #scene: Scene | null = null;
  #layout: GanttLayout | null = null;
  #pointer: { xPx: number; yPx: number } | null = null;
  #hovered: TaskRef | null = null;
  #selected: TaskRef | null = null;
  #prefixes: PrefixSummary[] = [];
  #seenVersion = -1;
  #tableMs = -Infinity;
  #hintTimer: ReturnType<typeof setTimeout> | undefined;
  #tableTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: TaskStore, options: GanttOptions) {
    this.#store = store;
    this.#signal = options.signal;
    this.#window = { firstRun: options.firstRun ?? 0, lastRun: options.lastRun ?? null };
    this.#t = options.translate ?? english;
    this.#parts = makeParts(this.#t);
    this.#painter = new GanttPainter(this.#parts.canvas);
    this.#theme = readTheme(document.body);
    this.#frames = new FrameLoop(() => this.#paint(), options.signal);
    this.#report = new Reporter(options);
    const follow = options.follow ?? this.#window.lastRun === null;
    this.#view = follow ? { kind: 'follow', widthS: null } : { kind: 'fit' };
  }

  get el(): HTMLElement {
    return this.#parts.root;
  }

  start(): void {
    const signal = this.#signal;
    const { fit, follow, zoomIn, zoomOut, scroll, canvas } = this.#parts;
    this.#readTheme();
    watchTheme(() => { this.#readTheme(); }, signal);
    this.#watchWidth();
    this.#store.subscribe(() => { this.#frames.request(); }, signal);
    fit.addEventListener('click', () => { this.#fit(); }, { signal });
    follow.addEventListener('click', () => { this.#toggleFollow(); }, { signal });
    zoomIn.addEventListener('click', () => { this.#zoom(0.5, null); }, { signal });
    zoomOut.addEventListener('click', () => { this.#zoom(2, null); }, { signal });
    scroll.addEventListener('scroll', () => { this.#frames.request(); }, { signal, passive: true });
    listenToGestures(canvas, {
      zoom: (factor, atPx) => { this.#zoom(factor, atPx); },
      pan: px => { this.#pan(px); },
      scrollLanes: direction => { scroll.scrollTop += direction * WHEEL_LANES * (this.#layout?.lanePx ?? 0); },
      fit: () => { this.#fit(); },
      toggleFollow: () => { this.#toggleFollow(); },
      hover: place => { this.#hover(place); },
      click: place => { this.#click(place); },
      clearSelection: () => { this.#select(null); },
      hint: () => { this.#hint(); }
    }, signal);
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
    this.#paint();
    this.#frames.request();
  }

  setFollow(follow: boolean): void {
    const wasFollowing = this.#view.kind === 'follow';
    if (follow !== wasFollowing) {
      this.#view = follow ? { kind: 'follow', widthS: null } : this.#frozenView();
      this.#frames.request();
    }
  }

  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    if (range === null) {
      this.#view = { kind: 'fit' };
    } else if (range[1] > range[0]) {
      this.#view = { kind: 'free', span: { startS: range[0], stopS: range[1] } };
    }
    this.#frames.request();
  }

  clearSelection(): void {
    this.#selected = null;
    this.#frames.request();
  }

  timeRange(): [startS: number, stopS: number] | null {
    return this.#scene === null ? null : [this.#scene.span.startS, this.#scene.span.stopS];
  }

  #stop(): void {
    clearTimeout(this.#hintTimer);
    clearTimeout(this.#tableTimer);
    this.#report.stop();
    this.#parts.root.remove();
  }

  #readTheme(): void {
    const { root } = this.#parts;
    this.#theme = readTheme(root.isConnected ? root : document.body);
    root.classList.toggle('tsk-dark', this.#theme.dark);
    this.#frames.request();
  }

  #watchWidth(): void {
    const { plot } = this.#parts;
    this.#widthPx = plot.clientWidth;
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(() => {
      if (plot.clientWidth !== this.#widthPx) {
        this.#widthPx = plot.clientWidth;
        this.#frames.request();
      }
    });
    observer.observe(plot);
    this.#signal.addEventListener('abort', () => { observer.disconnect(); }, { once: true });
  }

  #paint(): Painted {
    const scene = sceneOf(this.#store, this.#window, this.#view);
    this.#scene = scene;
    this.#refreshWords(scene);
    const { scroll, empty, content } = this.#parts;
    const shown = scene !== null && scene.lanes.length > 0;
    scroll.hidden = !shown;
    empty.hidden = shown;
    if (!shown) {
      setText(empty, emptyText(this.#store, scene, this.#t));
      return 'still';
    }
    const colours = this.#store.colours(this.#window);
    const { lanes, span, zeroS } = scene;
    const layout = this.#lay(lanes, span, zeroS);
    this.#layout = layout;
    scroll.style.height = `${layout.heightPx}px`;
    content.style.height = `${layout.contentPx}px`;
    this.#refreshHover();
    this.#painter.paint(this.#store, {
      layout,
      scene,
      theme: this.#theme,
      prefixColour: prefix => colours.colour(prefix),
      cursorPx: this.#cursorPx(layout),
      hovered: this.#hovered,
      selected: this.#selected
    });
    return scene.growing && !this.#still ? 'growing' : 'still';
  }

  #lay(lanes: Scene['lanes'], span: Scene['span'], zeroS: number): GanttLayout {
    const { scroll } = this.#parts;
    const widthPx = Math.max(scroll.clientWidth || this.#widthPx, 200);
    return layoutGantt({ widthPx, lanes, span, zeroS, scrollPx: scroll.scrollTop });
  }

  #cursorPx(layout: GanttLayout): number | null {
    const x = this.#pointer?.xPx ?? -1;
    return x >= layout.plotLeftPx && x <= layout.plotLeftPx + layout.plotWidthPx ? x : null;
  }

  #refreshWords(scene: Scene | null): void {
    const { follow, state, legend } = this.#parts;
    follow.setAttribute('aria-pressed', String(this.#view.kind === 'follow'));
    if (this.#seenVersion === this.#store.version) {
      return;
    }
    this.#seenVersion = this.#store.version;
    this.#prefixes = summarise(this.#store.tables.progressIn(this.#window));
    setText(state, stateText(this.#store, scene, this.#prefixes, this.#t));
    const colours = this.#store.colours(this.#window);
    const colourOf = (prefix: string): string => colours.colour(this.#store.tables.prefixId(prefix));
    fillLegend(legend, this.#prefixes, colourOf, this.#t);
    this.#refreshTable(scene);
  }

  /** The table is for screen readers, which should not be interrupted ten times a second. */
  #refreshTable(scene: Scene | null): void {
    const now = performance.now();
    const dueMs = this.#tableMs + TABLE_MS - now;
    if (dueMs > 0 && scene?.growing === true) {
      this.#tableTimer ??= setTimeout(() => {
        this.#tableTimer = undefined;
        this.#refreshTable(this.#scene);
      }, dueMs);
      return;
    }
    this.#tableMs = now;
    fillTable(this.#parts.table, this.#prefixes, this.#t);
    if (scene !== null) {
      this.#parts.canvas.setAttribute('aria-label', labelText(scene, this.#prefixes, this.#t));
    }
  }

  #zoom(factor: number, atPx: number | null): void {
    const [scene, layout] = [this.#scene, this.#layout];
    if (scene === null || layout === null) {
      return;
    }
    if (this.#view.kind === 'follow' && atPx === null) {
      // Buttons and keys keep following; the wheel picks a place.
      const width = clamp(widthS(scene.span) * factor, MIN_FOLLOW_S, widthS(scene.bounds));
      this.#setView({ kind: 'follow', widthS: width });
      return;
    }
    const px = atPx === null ? layout.plotWidthPx / 2 : clamp(atPx - layout.plotLeftPx, 0, layout.plotWidthPx);
    const aroundS = timeAt(scene.span, layout.plotWidthPx, px);
    this.#setView({ kind: 'free', span: zoom(scene.span, factor, aroundS, scene.bounds) });
  }

  #pan(px: number): void {
    const [scene, layout] = [this.#scene, this.#layout];
    if (scene === null || layout === null) {
      return;
    }
    const deltaS = (px / layout.plotWidthPx) * widthS(scene.span);
    this.#setView({ kind: 'free', span: pan(scene.span, deltaS, scene.bounds) });
  }

  #fit(): void {
    this.#setView({ kind: 'fit' });
  }

  #toggleFollow(): void {
    this.#setView(this.#view.kind === 'follow' ? this.#frozenView() : { kind: 'follow', widthS: null });
  }

  #frozenView(): View {
    return this.#scene === null ? { kind: 'fit' } : { kind: 'free', span: this.#scene.span };
  }

  /** A view the person chose: later gestures start from it, and the host hears of it. */
  #setView(view: View): void {
    this.#view = view;
    this.#scene = sceneOf(this.#store, this.#window, view);
    this.#report.follow(view.kind === 'follow');
    this.#report.timeRange(view.kind === 'free' ? [view.span.startS, view.span.stopS] : null);
    this.#frames.request();
  }

  #hover(place: { xPx: number; yPx: number } | null): void {
    this.#pointer = place;
    if (place === null) {
      this.#hovered = null;
      this.#parts.tooltip.hide();
    }
    this.#frames.request();
  }

  /** Bars move under a pointer that rests, so what it is on is found again for each painting. */
  #refreshHover(): void {
    const { tooltip, canvas } = this.#parts;
    const found = this.#pointer === null ? null : this.#taskAt(this.#pointer);
    this.#hovered = found?.ref ?? null;
    canvas.style.cursor = found === null ? 'default' : 'pointer';
    if (found === null || this.#pointer === null || this.#scene === null) {
      tooltip.hide();
      return;
    }
    const tip = tipOf(found.detail, found.label, this.#scene.zeroS, found.sharing, this.#t);
    const prefix = this.#store.tables.prefixId(found.detail.prefix);
    tooltip.show(tip, this.#store.colours(this.#window).colour(prefix), this.#pointer);
  }

  #taskAt(place: { xPx: number; yPx: number }): Found | null {
    const [scene, layout] = [this.#scene, this.#layout];
    const box = layout === null ? null : laneAt(layout, place.yPx);
    const lane = box === null ? undefined : this.#store.lane(box.id);
    const x = place.xPx - (layout?.plotLeftPx ?? 0);
    if (scene === null || layout === null || box === null || lane === undefined || x < 0 || x > layout.plotWidthPx) {
      return null;
    }
    const timeS = timeAt(scene.span, layout.plotWidthPx, x);
    const pixelS = widthS(scene.span) / layout.plotWidthPx;
    const i = hitTask(lane, timeS, pixelS * HIT_PX, scene.runs);
    const detail = i === null ? null : this.#store.detail(box.id, i);
    if (i === null || detail === null) {
      return null;
    }
    const ref = { lane: box.id, row: lane.row[i] ?? 0, startS: detail.startS };
    const sharing = countTouching(lane, timeS - pixelS / 2, timeS + pixelS / 2);
    return { ref, detail, label: box.label, sharing };
  }

  #click(place: { xPx: number; yPx: number }): void {
    this.#select(this.#taskAt(place));
  }

  #select(found: Found | null): void {
    this.#selected = found?.ref ?? null;
    this.#report.selectedKey(found?.detail.key ?? null);
    this.#frames.request();
  }

  #hint(): void {
    const { hint } = this.#parts;
    hint.hidden = false;
    clearTimeout(this.#hintTimer);
    this.#hintTimer = setTimeout(() => {
      hint.hidden = true;
    }, HINT_MS);
  }
}

interface Found {
  readonly ref: TaskRef;
  readonly detail: TaskDetail;
  readonly label: string;
  readonly sharing: number;
}
