/** Which part of time a chart of some computes shows. */
import { Listeners } from '../../lib/listeners';
import { Seen } from '../../lib/seen';
import type { Span } from '../../lib/span';
import { MIN_SPAN_S, clamp, padded, pan, timeAt, widthS, within, zoom } from '../../lib/span';
import type { RunRange, TaskStore } from '../../store';
import type { Run } from '../../wire';

/** The part of a canvas on which time lies. */
export interface PlotBox {
  readonly plotLeftPx: number;
  readonly plotWidthPx: number;
}

/** Computes closer together than this belong to one stretch of work. */
const PAUSE_S = 2;

/** What to show: everything, the present, or a place somebody chose. */
export type View =
  | { readonly kind: 'fit' }
  /** `widthS` null: the whole last stretch of work. */
  | { readonly kind: 'follow'; readonly widthS: number | null }
  | { readonly kind: 'free'; readonly span: Span };

export interface ShownTime {
  /** All there is. */
  readonly bounds: Span;
  readonly span: Span;
  readonly zeroS: number;
  /** The present, or where time is paused. */
  readonly nowS: number;
  /** From the first compute's start to the last one's end or now: `bounds` without its margin, never empty. */
  readonly worked: Span;
  /** Whether time is paused: what came later is not shown. */
  readonly paused: boolean;
  /** Whether something in flight grows. */
  readonly growing: boolean;
}

/**
 * Work out what `view` shows now; null before there is any compute.
 *
 * @param pausedAtS shows it as of then, in seconds after the recorder's zero; null: as of now
 */
export function shownTime(store: TaskStore, runRange: RunRange, view: View, pausedAtS: number | null = null): ShownTime | null {
  const runs = store.tables.runsIn(runRange).flatMap(run => asOf(run, pausedAtS));
  if (runs.length === 0) {
    return null;
  }
  const nowS = pausedAtS ?? store.clock.nowS();
  const { startS, stopS } = extent(runs, nowS);
  const bounds = padded(startS, stopS);
  return {
    bounds,
    span: spanOf(view, runs, bounds, nowS),
    zeroS: startS,
    nowS,
    worked: { startS, stopS: Math.max(stopS, startS + 1e-9) },
    paused: pausedAtS !== null,
    growing: pausedAtS === null && store.clock.active && runs.some(run => run.status === 'running')
  };
}

/** A compute as it was at a time: nothing before it began. */
export function asOf(run: Run, timeS: number | null): Run[] {
  if (timeS === null) {
    return [run];
  }
  const isEnded = run.stopS !== null && run.stopS <= timeS;
  return (run.startS ?? Infinity) > timeS ? [] : [isEnded ? run : { ...run, status: 'running', stopS: null }];
}

function extent(runs: readonly Run[], nowS: number): Span {
  const starts = runs.flatMap(run => run.startS ?? []);
  const stops = runs.map(run => run.stopS ?? nowS);
  return { startS: starts.reduce((a, b) => Math.min(a, b), Infinity), stopS: stops.reduce((a, b) => Math.max(a, b), 0) };
}

function spanOf(view: View, runs: readonly Run[], bounds: Span, nowS: number): Span {
  switch (view.kind) {
    case 'fit':
      return bounds;
    case 'free':
      return view.span;
    case 'follow': {
      const { startS, stopS } = lastStretch(runs, nowS);
      return view.widthS === null
        ? padded(startS, stopS)
        : { startS: stopS - view.widthS * 0.96, stopS: stopS + view.widthS * 0.04 };
    }
  }
}

/** The last computes without a long pause between them. */
export function lastStretch(runs: readonly Run[], nowS: number): Span {
  const spans = runs
    .map(run => ({ startS: run.startS ?? nowS, stopS: run.stopS ?? nowS }))
    .sort((a, b) => b.stopS - a.stopS);
  let { startS, stopS } = spans[0] ?? { startS: nowS, stopS: nowS };
  for (const span of spans) {
    if (startS - span.stopS > Math.max(PAUSE_S, (stopS - startS) * 0.2)) {
      break;
    }
    startS = Math.min(startS, span.startS);
    stopS = Math.max(stopS, span.stopS);
  }
  return { startS, stopS };
}

export class TimeAxis {
  #view: View;
  #cursorS: number | null = null;
  #keyedBy: symbol | null = null;
  #pausedAtS: number | null = null;
  #sinceRun: number | null = null;
  #chosen: number | 'all' | null = null;
  #range: Span | null = null;
  readonly #gutters = new Map<object, number>();
  readonly #listeners = new Listeners();

  constructor(follow: boolean) {
    this.#view = follow ? { kind: 'follow', widthS: null } : { kind: 'fit' };
  }

  get view(): View {
    return this.#view;
  }

  /** The time under the pointer, in seconds after the recorder's zero; null: none. */
  get cursorS(): number | null {
    return this.#cursorS;
  }

  /** The chart in which keys have put the cursor where it is; null: the pointer did. */
  get keyedBy(): symbol | null {
    return this.#keyedBy;
  }

  /** Where time is paused for looking at it, in seconds after the recorder's zero; null: it goes on. */
  get pausedAtS(): number | null {
    return this.#pausedAtS;
  }

  /** The first compute that is shown since those before it were cleared away; null: nothing was. */
  get sinceRun(): number | null {
    return this.#sinceRun;
  }

  /** The only compute that is shown, or all of a session, since a person selected that; null: nothing was. */
  get chosen(): number | 'all' | null {
    return this.#chosen;
  }

  /** The time that a person asks about, while it is selected; null: none is. */
  get range(): Span | null {
    return this.#range;
  }

  show(view: View): void {
    this.#view = view;
    this.#changed();
  }

  pauseAt(pausedAtS: number | null): void {
    this.#pausedAtS = pausedAtS;
    this.#changed();
  }

  clear(sinceRun: number | null): void {
    this.#sinceRun = sinceRun;
    this.#chosen = this.#range = null;
    this.#changed();
  }

  /** Show one compute alone, or all together, as a whole; null: no longer. */
  choose(chosen: number | 'all' | null): void {
    this.#chosen = chosen;
    this.#range = null;
    this.#view = this.#view.kind === 'free' ? { kind: 'fit' } : this.#view;
    this.#changed();
  }

  select(range: Span | null): void {
    this.#range = range;
    this.#changed();
  }

  point(cursorS: number | null, keyedBy: symbol | null = null): void {
    if (cursorS !== this.#cursorS || keyedBy !== this.#keyedBy) {
      this.#cursorS = cursorS;
      this.#keyedBy = keyedBy;
      this.#changed();
    }
  }

  /** Reserve `gutterPx` left of the plot for a chart until `signal` aborts; returns the widest reservation. */
  reserve(chart: object, gutterPx: number, signal: AbortSignal): number {
    const before = this.#widest();
    if (!signal.aborted) {
      if (!this.#gutters.has(chart)) {
        signal.addEventListener('abort', () => { this.#release(chart); }, { once: true });
      }
      this.#gutters.set(chart, gutterPx);
    }
    const after = this.#widest();
    if (after !== before && this.#gutters.size > 1) {
      this.#changed();
    }
    return after;
  }

  /** Tell `listener` of every change until `signal` aborts; it must not change anything itself. */
  subscribe(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener, signal);
  }

  #release(chart: object): void {
    const before = this.#widest();
    this.#gutters.delete(chart);
    if (this.#widest() !== before) {
      this.#changed();
    }
  }

  #widest(): number {
    return Math.max(0, ...this.#gutters.values());
  }

  #changed(): void {
    this.#listeners.call();
  }
}

/** `now`: what runs, else what ended last; `all`: all computes together. */
export type Shows = 'now' | 'all';

type RunTimes = Pick<Run, 'run' | 'startS' | 'stopS' | 'status' | 'scheduler' | 'cell' | 'executionCount'>;

/** The computes that run, else the one that ended last, with the others of the same executions of cells. */
export function headline<T extends RunTimes>(runs: readonly T[]): readonly T[] {
  const running = runs.filter(run => run.status === 'running');
  const endS = ({ stopS, startS }: RunTimes): number => stopS ?? startS ?? -Infinity;
  const last = runs.reduce<T | null>((latest, run) => (latest === null || endS(run) >= endS(latest) ? run : latest), null);
  const chosen = running.length > 0 || last === null ? running : [last];
  return runs.filter(run => chosen.some(of => of === run || (run.cell !== null && of.cell === run.cell && of.executionCount === run.executionCount)));
}

export class ShownRuns implements RunRange {
  firstRun: number;
  lastRun: number | null;
  readonly #seen = new Seen();

  constructor(
    private readonly store: TaskStore,
    /** With what was cleared away. */
    public whole: RunRange,
    private readonly axis: TimeAxis,
    private readonly shows: Shows
  ) {
    ({ firstRun: this.firstRun, lastRun: this.lastRun } = whole);
    this.refresh(axis.view);
  }

  /** All from which one can be selected. */
  get all(): RunRange {
    return { firstRun: Math.max(this.whole.firstRun, this.axis.sinceRun ?? 0), lastRun: this.whole.lastRun };
  }

  /** Whether it follows what runs now. */
  get isOfNow(): boolean {
    return this.shows === 'now' && this.axis.chosen === null;
  }

  /** Whether a person may have all computes shown instead, or did. */
  get mayShowAll(): boolean {
    return this.shows === 'now';
  }

  /** Changes with the computes that are shown. */
  get id(): string {
    return `${this.firstRun} to ${this.lastRun ?? ''}`;
  }

  /** Find out which computes a view of time shows. */
  refresh(view: View): void {
    const { axis, store } = this;
    if (this.#seen.isNew(store.version, this.whole, axis.chosen, axis.sinceRun, axis.pausedAtS, view)) {
      ({ firstRun: this.firstRun, lastRun: this.lastRun } = this.#find(view));
    }
  }

  togglePause(): void {
    this.axis.pauseAt(this.axis.pausedAtS === null ? this.store.clock.nowS() : null);
  }

  /** Clear away the computes that are over, or show them again. */
  toggleClear(): void {
    const runs = this.store.tables.runsIn(this.whole);
    const open = runs.filter(run => run.status === 'running').map(run => run.run);
    const next = Math.min(...open, (runs.at(-1)?.run ?? this.whole.firstRun - 1) + 1);
    this.axis.clear(this.axis.sinceRun === null ? next : null);
  }

  #find(view: View): RunRange {
    const { axis: { chosen, pausedAtS }, all } = this;
    if (typeof chosen === 'number') {
      return { firstRun: chosen, lastRun: chosen };
    }
    if (!this.isOfNow) {
      return all;
    }
    const runs = this.store.tables.runsIn(all).flatMap(run => asOf(run, pausedAtS));
    const now = headline(runs);
    const span = chosenSpan(view, now, pausedAtS ?? this.store.clock.nowS());
    const inSight = span === null ? [] : runs.filter(run => (run.startS ?? Infinity) < span.stopS && (run.stopS ?? Infinity) > span.startS);
    const numbers = (inSight.length > 0 ? inSight : now).map(({ run }) => run);
    return numbers.length === 0 ? all : { firstRun: Math.min(...numbers), lastRun: Math.max(...numbers) };
  }
}

/** The time that a person chose to see, in which all that ran is shown, whatever begins after it; null: none was. */
function chosenSpan(view: View, now: readonly Run[], nowS: number): Span | null {
  switch (view.kind) {
    case 'fit':
      return null;
    case 'free':
      return view.span;
    case 'follow': {
      const stopS = Math.max(...now.map(run => run.stopS ?? nowS));
      return view.widthS === null ? null : { startS: stopS - view.widthS, stopS };
    }
  }
}

const MIN_FOLLOW_S = 1e-3;

export class Navigator {
  /** What was shown last. */
  time: ShownTime | null = null;

  /**
   * @param timeOf works out what a view shows now
   * @param chosen is called when a gesture changed the view
   */
  constructor(
    private readonly timeOf: (view: View) => ShownTime | null,
    private readonly axis: TimeAxis,
    private readonly chosen: (view: View) => void
  ) {}

  get following(): boolean {
    return this.axis.view.kind === 'follow';
  }

  /** Work out what is shown now. */
  refresh(): ShownTime | null {
    this.time = this.timeOf(this.axis.view);
    return this.time;
  }

  /** Scale around a place of the canvas; null: its middle, or the present while it is followed. */
  zoom(factor: number, atPx: number | null, box: PlotBox): void {
    const { time } = this;
    if (time === null) {
      return;
    }
    if (this.following && atPx === null) {
      const width = clamp(widthS(time.span) * factor, MIN_FOLLOW_S, widthS(time.bounds));
      this.#choose({ kind: 'follow', widthS: width });
      return;
    }
    const px = atPx === null ? box.plotWidthPx / 2 : clamp(atPx - box.plotLeftPx, 0, box.plotWidthPx);
    const aroundS = timeAt(time.span, box.plotWidthPx, px);
    this.#chooseSpan(zoom(time.span, factor, aroundS, time.bounds), time);
  }

  /** Move by pixels, to the right where positive. */
  pan(px: number, box: PlotBox): void {
    const { time } = this;
    if (time !== null) {
      const deltaS = (px / box.plotWidthPx) * widthS(time.span);
      this.#chooseSpan(pan(time.span, deltaS, time.bounds), time);
    }
  }

  /** The time at a place of the canvas; null outside of the plot. */
  timeAt(xPx: number, { plotLeftPx, plotWidthPx }: PlotBox): number | null {
    const px = xPx - plotLeftPx;
    return this.time !== null && px >= 0 && px <= plotWidthPx ? timeAt(this.time.span, plotWidthPx, px) : null;
  }

  /** The span between two places of the canvas; null while nothing is shown. */
  spanOf([leftPx, rightPx]: readonly [number, number], box: PlotBox): Span | null {
    const { time } = this;
    if (time === null) {
      return null;
    }
    const [startS, stopS] = [leftPx, rightPx].map(px =>
      timeAt(time.span, box.plotWidthPx, clamp(px - box.plotLeftPx, 0, box.plotWidthPx))
    ) as [number, number];
    return { startS, stopS };
  }

  /** Show a span, as far as there is something; too short a one is widened. */
  show({ startS, stopS }: Span): void {
    const { time } = this;
    if (time !== null) {
      const width = clamp(stopS - startS, MIN_SPAN_S, widthS(time.bounds));
      const middleS = (startS + stopS) / 2;
      this.#chooseSpan(within({ startS: middleS - width / 2, stopS: middleS + width / 2 }, time.bounds), time);
    }
  }

  /** Move, at the same scale, so that a span is in sight. */
  reveal({ startS, stopS }: Span): void {
    const span = this.time?.span;
    if (span !== undefined && (startS < span.startS || stopS > span.stopS)) {
      const width = Math.max(widthS(span), (stopS - startS) * 1.2);
      const middleS = (startS + stopS) / 2;
      this.show({ startS: middleS - width / 2, stopS: middleS + width / 2 });
    }
  }

  fit(): void {
    this.#choose({ kind: 'fit' });
  }

  toggleFollow(): void {
    this.#choose(this.following ? this.#frozen() : { kind: 'follow', widthS: null });
  }

  /** As the host says; not reported back. */
  setFollow(follow: boolean): void {
    if (follow !== this.following) {
      this.axis.show(follow ? { kind: 'follow', widthS: null } : this.#frozen());
    }
  }

  /** As the host says; not reported back. Empty and backward ranges are ignored. */
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    if (range === null) {
      this.axis.show(this.axis.view.kind === 'free' ? { kind: 'fit' } : this.axis.view);
    } else if (range[1] > range[0]) {
      this.axis.show({ kind: 'free', span: { startS: range[0], stopS: range[1] } });
    }
  }

  #chooseSpan(span: Span, { bounds }: ShownTime): void {
    // All of it stays all of it when more comes; but what is over is not left for what runs now.
    const isAll = span === bounds && this.timeOf({ kind: 'fit' })?.bounds.startS === bounds.startS;
    this.#choose(isAll ? { kind: 'fit' } : { kind: 'free', span });
  }

  #frozen(): View {
    return this.time === null ? { kind: 'fit' } : { kind: 'free', span: this.time.span };
  }

  /** The next gesture starts from here, even if no frame was painted in between. */
  #choose(view: View): void {
    this.axis.show(view);
    this.refresh();
    this.chosen(view);
  }
}
