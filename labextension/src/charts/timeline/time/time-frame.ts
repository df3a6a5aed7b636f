/** Which part of time a chart of some computes shows. */
import type { Span } from '../../../lib/span';
import { padded } from '../../../lib/span';
import type { RunWindow, TaskStore } from '../../../store';
import type { Run } from '../../../wire';

/** Computes closer together than this belong to one stretch of work. */
const PAUSE_S = 2;

/** What to show: everything, the present, or a place somebody chose. */
export type View =
  | { readonly kind: 'fit' }
  /** `widthS` null: the whole last stretch of work. */
  | { readonly kind: 'follow'; readonly widthS: number | null }
  | { readonly kind: 'free'; readonly span: Span };

export interface TimeFrame {
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
export function timeFrame(store: TaskStore, window: RunWindow, view: View, pausedAtS: number | null = null): TimeFrame | null {
  const runs = store.tables.runsIn(window).flatMap(run => asOf(run, pausedAtS));
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
