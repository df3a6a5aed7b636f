/** The Gantt chart in a page: what is seen follows the store and the person, painting waits for frames. */
import { pxAt, timeAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import { english } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import { setText } from '../ui/dom';
import type { Painted } from '../ui/frames';
import { FrameLoop } from '../ui/frames';
import { prefersStill, readTheme, watchTheme } from '../ui/page-theme';
import { SHARED_CSS, adoptStyles } from '../ui/styles';
import { TimeAxis } from '../ui/time-axis';
import { Description } from './description';
import type { TaskRef } from './draw';
import { GanttPainter } from './draw';
import type { Found, Place } from './find-task';
import { findTask } from './find-task';
import { listenToGestures } from './gestures';
import type { GanttLayout } from './layout';
import { gutterPx, layoutGantt } from './layout';
import type { Scene } from './model';
import type { Parts } from './parts';
import { makeParts } from './parts';
import { Reporter } from './reporter';
import { GANTT_CSS } from './style';
import { tipOf } from './tooltip';
import { Viewport } from './viewport';
import { emptyText } from './words';

export interface GanttOptions {
  /** Unmounts the chart. */
  readonly signal: AbortSignal;
  readonly firstRun?: number;
  /** Null or left out: and all that come. */
  readonly lastRun?: number | null;
  /** Whether the chart starts by moving with the present; on where the window is open. */
  readonly follow?: boolean;
  /** Shared with other charts of the same computes; left out: its own. */
  readonly axis?: TimeAxis;
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
  /** These three are not reported back. */
  setFollow(follow: boolean): void;
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void;
  clearSelection(): void;
  /** The span that is shown, null before the first compute. */
  timeRange(): [startS: number, stopS: number] | null;
}

const HINT_MS = 1600;
const KEY_LANES = 3;
const MIN_WIDTH_PX = 200;

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
  readonly #axis: TimeAxis;
  readonly #viewport: Viewport;
  readonly #words: Description;
  readonly #still = prefersStill();
  #theme: Theme;
  #layout: GanttLayout | null = null;
  #pointer: Place | null = null;
  #hovered: TaskRef | null = null;
  #selected: TaskRef | null = null;
  #hintTimer: ReturnType<typeof setTimeout> | undefined;

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
    this.#axis = options.axis ?? new TimeAxis(follow);
    this.#viewport = new Viewport(store, this.#window, this.#axis, view => {
      this.#report.view(view);
    });
    this.#words = new Description(store, this.#window, this.#parts, this.#t);
  }

  get el(): HTMLElement {
    return this.#parts.root;
  }

  start(): void {
    const signal = this.#signal;
    this.#readTheme();
    watchTheme(() => { this.#readTheme(); }, signal);
    this.#watchWidth();
    this.#store.subscribe(() => { this.#frames.request(); }, signal);
    this.#axis.subscribe(() => { this.#frames.request(); }, signal);
    this.#listenToParts();
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
    this.#paint();
    this.#frames.request();
  }

  setFollow(follow: boolean): void {
    this.#viewport.setFollow(follow);
  }

  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    this.#viewport.setTimeRange(range);
  }

  clearSelection(): void {
    this.#selected = null;
    this.#frames.request();
  }

  timeRange(): [startS: number, stopS: number] | null {
    const span = this.#viewport.refresh()?.span;
    return span === undefined ? null : [span.startS, span.stopS];
  }

  #stop(): void {
    clearTimeout(this.#hintTimer);
    this.#words.stop();
    this.#report.stop();
    this.#parts.root.remove();
  }

  #listenToParts(): void {
    const signal = this.#signal;
    const { fit, follow, zoomIn, zoomOut, scroll, canvas } = this.#parts;
    const zoom = (factor: number, atPx: number | null): void => {
      if (this.#layout !== null) {
        this.#viewport.zoom(factor, atPx, this.#layout);
      }
    };
    canvas.addEventListener('focus', () => { this.#parts.hint.hidden = true; }, { signal });
    const actions = {
      fit: () => { this.#viewport.fit(); },
      toggleFollow: () => { this.#viewport.toggleFollow(); }
    };
    fit.addEventListener('click', actions.fit, { signal });
    follow.addEventListener('click', actions.toggleFollow, { signal });
    zoomIn.addEventListener('click', () => { zoom(0.5, null); }, { signal });
    zoomOut.addEventListener('click', () => { zoom(2, null); }, { signal });
    scroll.addEventListener('scroll', () => { this.#frames.request(); }, { signal, passive: true });
    const intents = {
      ...actions,
      zoom,
      pan: (px: number) => {
        if (this.#layout !== null) {
          this.#viewport.pan(px, this.#layout);
        }
      },
      scrollLanes: (direction: number) => { scroll.scrollTop += direction * KEY_LANES * (this.#layout?.lanePx ?? 0); },
      hover: (place: Place | null) => { this.#hover(place); },
      click: (place: Place) => { this.#select(this.#find(place)); },
      clearSelection: () => { this.#select(null); },
      hint: () => { this.#hint(); }
    };
    listenToGestures(canvas, intents, signal);
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
    const scene = this.#viewport.refresh();
    const { head, scroll, empty, content, follow } = this.#parts;
    follow.setAttribute('aria-pressed', String(this.#viewport.following));
    this.#words.refresh(scene);
    const shown = scene !== null && scene.lanes.length > 0;
    head.hidden = !shown;
    scroll.hidden = !shown;
    empty.hidden = shown;
    if (!shown) {
      setText(empty, emptyText(this.#store, scene, this.#t));
      this.#parts.tooltip.hide();
      return 'still';
    }
    const layout = this.#lay(scene);
    this.#layout = layout;
    scroll.style.height = `${layout.heightPx}px`;
    content.style.height = `${layout.contentPx}px`;
    this.#refreshHover(scene);
    const colours = this.#store.colours(this.#window);
    this.#painter.paint(this.#store, {
      layout,
      scene,
      theme: this.#theme,
      prefixColour: prefix => colours.colour(prefix),
      cursorPx: cursorPx(layout, scene, this.#axis.cursorS),
      hovered: this.#hovered,
      selected: this.#selected
    });
    return scene.growing && !this.#still ? 'growing' : 'still';
  }

  #lay({ lanes, span, zeroS }: Scene): GanttLayout {
    const { scroll } = this.#parts;
    const widthPx = Math.max(scroll.clientWidth, MIN_WIDTH_PX);
    const leftPx = this.#axis.reserve(this, gutterPx(lanes, widthPx));
    return layoutGantt({ widthPx, lanes, span, zeroS, scrollPx: scroll.scrollTop, leftPx });
  }

  #hover(place: Place | null): void {
    this.#pointer = place;
    this.#axis.point(place === null ? null : this.#timeAt(place));
    this.#frames.request();
  }

  #timeAt({ xPx }: Place): number | null {
    const [scene, layout] = [this.#viewport.scene, this.#layout];
    const px = xPx - (layout?.plotLeftPx ?? 0);
    const inside = scene !== null && layout !== null && px >= 0 && px <= layout.plotWidthPx;
    return inside ? timeAt(scene.span, layout.plotWidthPx, px) : null;
  }

  /** Bars move under a pointer that rests, so what it is on is found again for each painting. */
  #refreshHover(scene: Scene): void {
    const { tooltip, canvas } = this.#parts;
    const found = this.#pointer === null ? null : this.#find(this.#pointer);
    this.#hovered = found?.ref ?? null;
    canvas.style.cursor = found === null ? 'default' : 'pointer';
    if (found === null || this.#pointer === null) {
      tooltip.hide();
      return;
    }
    const tip = tipOf(found.detail, found.label, scene.zeroS, found.sharing, this.#t);
    const prefix = this.#store.tables.prefixId(found.detail.prefix);
    tooltip.show(tip, this.#store.colours(this.#window).colour(prefix), this.#pointer);
  }

  #find(place: Place): Found | null {
    const [scene, layout] = [this.#viewport.scene, this.#layout];
    return scene === null || layout === null ? null : findTask(this.#store, scene, layout, place);
  }

  #select(found: Found | null): void {
    this.#selected = found?.ref ?? null;
    this.#report.selectedKey(found?.detail.key ?? null);
    this.#frames.request();
  }

  #hint(): void {
    const { hint, scroll } = this.#parts;
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
}

/** Where the line at the shared cursor stands; null outside of the bars. */
function cursorPx({ plotLeftPx, plotWidthPx }: GanttLayout, { span }: Scene, cursorS: number | null): number | null {
  const px = cursorS === null ? -1 : pxAt(span, plotWidthPx, cursorS);
  return px >= 0 && px <= plotWidthPx ? plotLeftPx + px : null;
}
