/** What ran in a range of time, whole: tasks are cut at its edges, those in flight count to now; pure. */
import { lowerBound, upperBound } from '../../../lib/search';
import type { Span } from '../../../lib/span';
import { clamp, widthS } from '../../../lib/span';
import type { HeldMoments, RunRange, RunWindow, TaskStore } from '../../../store';
import type { KnownPath } from '../../../wire';
import { isOnCluster } from '../../../wire';
import type { Scene } from '../scene';
import type { PathSums } from '../why/path';
import { sumsOf } from '../why/path';

/** Tasks of one type. */
export interface TypeSum {
  readonly prefix: string;
  /** Those that ran at some moment of the range. */
  readonly n: number;
  readonly seconds: number;
}

export interface MostBytes {
  readonly bytes: number;
  /** Whether there may have been more: not all was measured, or not always. */
  readonly isAtLeast: boolean;
}

export interface RangeNumbers {
  /** As far as something was computed. */
  readonly span: Span;
  /** The most time first. */
  readonly types: readonly TypeSum[];
  readonly nTasks: number;
  /** Sum over the tasks. */
  readonly taskS: number;
  readonly nLanes: number;
  /** Sums over the lanes: with a task, and without one. */
  readonly busyS: number;
  readonly idleS: number;
  /** The largest sample of the resident memory of this process and its children; null: there is none in the range. */
  readonly residentBytes: number | null;
  /** Results that were held; null: unknown. */
  readonly held: MostBytes | null;
  /** What of the critical path lies in it, or why that is not known. */
  readonly path: PathSums | { readonly reason: string };
}

/** What of the shown computes is worked out as they go on, and read here. */
export interface Known {
  /** Of the bytes that were held. */
  readonly moments: HeldMoments;
  readonly path: KnownPath;
}

/** Work out the numbers of a range; null where nothing was computed. */
export function numbersOf(store: TaskStore, window: RunWindow, scene: Scene, range: Span, { moments, path }: Known): RangeNumbers | null {
  const { worked } = scene;
  const span = { startS: clamp(range.startS, worked.startS, worked.stopS), stopS: clamp(range.stopS, worked.startS, worked.stopS) };
  if (!(widthS(span) > 0)) {
    return null;
  }
  const sums = new Map<number, { n: number; seconds: number }>();
  let busyS = 0;
  for (const { id } of scene.lanes) {
    busyS += addLane(store, scene, id, span, sums);
  }
  const types = Array.from(sums, ([prefix, sum]) => ({ prefix: store.tables.prefixes[prefix] ?? '?', ...sum })).sort((a, b) => b.seconds - a.seconds || b.n - a.n);
  return {
    span,
    types,
    nTasks: types.reduce((n, type) => n + type.n, 0),
    taskS: types.reduce((seconds, type) => seconds + type.seconds, 0),
    nLanes: scene.lanes.length,
    busyS,
    idleS: Math.max(scene.lanes.length * widthS(span) - busyS, 0),
    residentBytes: residentIn(store, span),
    held: heldIn(store, window, moments, span),
    path: 'path' in path ? sumsOf(path.path, span) : path
  };
}

/** Seconds between two times that lie in a span. */
export function secondsIn(fromS: number, toS: number, { startS, stopS }: Span): number {
  return Math.max(Math.min(toS, stopS) - Math.max(fromS, startS), 0);
}

/** Whether something ran at some moment of a span, be it for no time at all. */
export function isIn(fromS: number, toS: number, { startS, stopS }: Span): boolean {
  return fromS < stopS && toS > startS;
}

export const isOf = (run: number, runs: RunRange): boolean => runs === null || (run >= runs[0] && run <= runs[1]);

/** Add the tasks of a lane; returns for how long there was one. */
function addLane(store: TaskStore, { open, runs, nowS }: Scene, id: number, span: Span, sums: Map<number, { n: number; seconds: number }>): number {
  const add = (prefix: number, fromS: number, toS: number): void => {
    const sum = sums.get(prefix) ?? { n: 0, seconds: 0 };
    sums.set(prefix, sum);
    sum.n += 1;
    sum.seconds += secondsIn(fromS, toS, span);
  };
  const inFlight = (open.get(id) ?? []).filter(({ startS }) => isIn(startS, nowS, span));
  inFlight.forEach(({ prefix, startS }) => { add(prefix, startS, nowS); });
  // All of them go on until now, so that what ended counts up to the first of them only.
  const openS = inFlight.reduce((first, { startS }) => Math.min(first, startS), Infinity);
  let busyS = openS === Infinity ? 0 : secondsIn(openS, nowS, span);
  const lane = store.lane(id);
  const last = lane?.firstStarting(span.stopS) ?? 0;
  let reachS = span.startS;
  for (let i = lane?.firstReaching(span.startS) ?? 0; lane !== undefined && i < last; i += 1) {
    const [fromS, toS] = [lane.startS[i] as number, lane.stopS[i] as number];
    if (isOf(lane.run[i] as number, runs) && isIn(fromS, toS, span)) {
      add(lane.prefix[i] as number, fromS, toS);
      busyS += secondsIn(Math.max(fromS, reachS), Math.min(toS, openS), span);
      reachS = Math.max(reachS, toS);
    }
  }
  return busyS;
}

function residentIn({ resources }: TaskStore, span: Span): number | null {
  const [from, to] = resources.within(span);
  const bytes = resources.rssBytes.subarray(from, to).filter(Number.isFinite).reduce((most, sample) => Math.max(most, sample), -1);
  return bytes < 0 ? null : bytes;
}

/** The most bytes of results that were held at a time, what was held already when the range began included. */
function heldIn({ held, tables }: TaskStore, window: RunWindow, moments: HeldMoments, { startS, stopS }: Span): MostBytes | null {
  // What was held at the last moment before the range is held when it begins.
  const from = Math.max(upperBound(moments.timeS, moments.n, startS) - 1, 0);
  const to = lowerBound(moments.timeS, moments.n, stopS);
  if (from >= to) {
    return null;
  }
  const isPartial = moments.unknown.subarray(from, to).some(unknown => unknown > 0);
  return { bytes: moments.total[moments.mostIn(from, to)] as number, isAtLeast: isPartial || held.isUnknown || tables.runsIn(window).some(isOnCluster) };
}
