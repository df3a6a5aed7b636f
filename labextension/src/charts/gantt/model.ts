/** What a Gantt chart shows of a store: which lanes, which span, which colours. */
import type { Span } from '../../lib/span';
import { padded } from '../../lib/span';
import { printable } from '../../lib/format';
import type { OpenTask, RunRange, RunWindow, TaskStore } from '../../store';
import { ALL_RUNS, inWindow } from '../../store';
import type { Run } from '../../wire';
import type { LaneLabel } from './layout';

/** Computes closer together than this belong to one stretch of work. */
const PAUSE_S = 2;

/** What to show: everything, the present, or a place somebody chose. */
export type View =
  | { readonly kind: 'fit' }
  /** `widthS` null: the whole last stretch of work. */
  | { readonly kind: 'follow'; readonly widthS: number | null }
  | { readonly kind: 'free'; readonly span: Span };

export interface Scene {
  readonly lanes: readonly LaneLabel[];
  /** All there is. */
  readonly bounds: Span;
  readonly span: Span;
  readonly zeroS: number;
  readonly runs: RunRange;
  readonly open: ReadonlyMap<number, readonly OpenTask[]>;
  readonly nowS: number;
  /** Whether something in flight grows. */
  readonly growing: boolean;
}

/** Work out what `view` shows now; null before there is any compute. */
export function sceneOf(store: TaskStore, window: RunWindow, view: View): Scene | null {
  const runs = store.tables.runsIn(window);
  const first = runs[0];
  if (first === undefined) {
    return null;
  }
  const nowS = store.clock.nowS();
  const { startS, stopS } = extent(runs, nowS);
  const bounds = padded(startS, stopS);
  const range = rangeOf(window);
  const open = openTasks(store, window);
  return {
    lanes: lanesOf(store, bounds, range, open),
    bounds,
    span: spanOf(view, runs, bounds, nowS),
    zeroS: startS,
    runs: range,
    open,
    nowS,
    growing: store.clock.active && runs.some(run => run.status === 'running')
  };
}

function rangeOf({ firstRun, lastRun }: RunWindow): RunRange {
  return firstRun === ALL_RUNS.firstRun && lastRun === null ? null : [firstRun, lastRun ?? Infinity];
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

function openTasks(store: TaskStore, window: RunWindow): Map<number, OpenTask[]> {
  const open = new Map<number, OpenTask[]>();
  for (const { run, lane, group, startS } of store.tables.running) {
    if (lane === null || startS === null || !inWindow(run, window)) {
      continue;
    }
    const ofLane = open.get(lane) ?? [];
    ofLane.push({ startS, prefix: store.tables.prefixOfGroup(group) ?? 0 });
    open.set(lane, ofLane);
  }
  return open;
}

function lanesOf(
  store: TaskStore,
  bounds: Span,
  range: RunRange,
  open: ReadonlyMap<number, readonly OpenTask[]>
): LaneLabel[] {
  const ids = new Set(open.keys());
  for (const id of store.laneIds) {
    if (store.lane(id)?.hasAny(bounds, range) === true) {
      ids.add(id);
    }
  }
  return [...ids]
    .sort((a, b) => a - b)
    .map(id => ({ id, label: printable(store.tables.lanes[id]?.label ?? `lane ${id}`, 40) }));
}
