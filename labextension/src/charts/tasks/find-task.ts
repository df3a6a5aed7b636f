/** Which task is under the pointer; binary searches only. */
import { timeAt, widthS } from '../../lib/span';
import type { LaneTasks, RunLimits, TaskDetail, TaskRef, TaskStore } from '../../store';
import { Coverage } from '../../store';
import type { CanvasPoint } from '../ui/dom';
import type { WorkerRow } from './rows';
import type { LaneLayout, OpenBar, PrefixFilter, Scene } from './scene';
import { coverageQuery, isShown, rowAt } from './scene';

export interface FoundTask {
  readonly kind: 'ended';
  readonly ref: TaskRef;
  readonly detail: TaskDetail;
  /** Of its lane. */
  readonly label: string;
  /** Tasks that touch the same pixel, itself included. */
  readonly sharing: number;
}

/** A task in flight. */
export interface FoundOpen {
  readonly kind: 'open';
  readonly bar: OpenBar;
  readonly lane: number;
  readonly label: string;
}

/** A moment of a collapsed worker. */
export interface FoundWorker {
  readonly kind: 'worker';
  readonly row: WorkerRow;
  readonly timeS: number;
  /** Lanes of it that were busy then, at the width of a pixel: 0 to their number. */
  readonly busyLanes: number;
  /** Tasks that touch the pixel. */
  readonly nTasks: number;
}

export type Found = FoundTask | FoundOpen | FoundWorker;

const TOLERANCE_PX = 3;

/** What is at a point: a task, or the nearest one within a few pixels, or a collapsed worker. */
export function findTask(store: TaskStore, scene: Scene, layout: LaneLayout, point: CanvasPoint, filter: PrefixFilter): Found | null {
  const row = rowAt(layout, point.yPx)?.row;
  const x = point.xPx - layout.plotLeftPx;
  if (row === undefined || x < 0 || x > layout.plotWidthPx) {
    return null;
  }
  const timeS = timeAt(scene.span, layout.plotWidthPx, x);
  const pixelS = widthS(scene.span) / layout.plotWidthPx;
  if (row.kind === 'lane') {
    return taskAt(store, scene, row.id, timeS, pixelS, filter);
  }
  return row.collapsed ? workerAt(store, scene, row, timeS, pixelS, filter) : null;
}

function taskAt(
  store: TaskStore,
  scene: Scene,
  id: number,
  timeS: number,
  pixelS: number,
  filter: PrefixFilter
): Found | null {
  const lane = store.lane(id);
  // In full: the row has only what its worker's row above does not say.
  const label = scene.lanes.find(one => one.id === id)?.label ?? '?';
  const i = lane === undefined ? null : hitTask(lane, timeS, pixelS * TOLERANCE_PX, scene.runs, filter);
  const detail = i === null ? null : store.detail(id, i);
  const isIn = detail !== null && timeS >= detail.startS && timeS <= detail.stopS;
  if (!isIn) {
    const bar = openAt(scene, id, timeS, filter);
    if (bar !== undefined) {
      return { kind: 'open', bar, lane: id, label };
    }
  }
  if (lane === undefined || i === null || detail === null) {
    return null;
  }
  const sharing = countTouching(lane, timeS - pixelS / 2, timeS + pixelS / 2, scene.runs, filter);
  return { kind: 'ended', ref: { lane: id, row: lane.row[i] ?? 0, startS: detail.startS }, detail, label, sharing };
}

/** The innermost one of the tasks in flight. */
function openAt({ open, nowS }: Scene, lane: number, timeS: number, { hidden }: PrefixFilter): OpenBar | undefined {
  return open.get(lane)?.findLast(bar => timeS >= bar.startS && timeS <= nowS && hidden?.[bar.prefix] !== 1);
}

function workerAt(store: TaskStore, scene: Scene, row: WorkerRow, timeS: number, pixelS: number, filter: PrefixFilter): FoundWorker {
  const span = { startS: timeS - pixelS / 2, stopS: timeS + pixelS / 2 };
  const lanes = row.lanes.map(id => ({ tasks: store.lane(id), open: scene.open.get(id) ?? [] }));
  const coverage = new Coverage();
  coverage.measure(lanes, coverageQuery(store, { ...scene, span }, filter, 1));
  let nTasks = 0;
  for (const { tasks, open } of lanes) {
    nTasks += tasks === undefined ? 0 : countTouching(tasks, span.startS, span.stopS, scene.runs, filter);
    nTasks += open.filter(bar => filter.hidden?.[bar.prefix] !== 1 && bar.startS < span.stopS && scene.nowS > span.startS).length;
  }
  return { kind: 'worker', row, timeS, busyLanes: (coverage.cover[0] ?? 0) * lanes.length, nTasks };
}

/** How many tasks back a nested one may hide the one that contains it. */
const MAX_BACK = 1000;

/**
 * The place of the innermost task at `timeS`, else of the nearest one within `toleranceS`, else null.
 */
export function hitTask(lane: LaneTasks, timeS: number, toleranceS: number, runs: RunLimits, filter: PrefixFilter): number | null {
  const after = lane.firstStartingAfter(timeS);
  let nearest: number | null = null;
  let distanceS = toleranceS;
  const consider = (i: number): boolean => {
    if (!isShown(lane, i, runs, filter)) {
      return false;
    }
    const away = Math.max((lane.startS[i] ?? 0) - timeS, timeS - (lane.stopS[i] ?? 0), 0);
    if (away <= distanceS) {
      nearest = i;
      distanceS = away;
    }
    return away === 0;
  };
  for (let i = after - 1; i >= Math.max(after - MAX_BACK, 0) && (lane.reachS[i] ?? 0) >= timeS - toleranceS; i -= 1) {
    if (consider(i)) {
      return i;
    }
  }
  if (after < lane.n) {
    consider(after);
  }
  return nearest;
}

/** How many tasks that are shown touch a span of time. */
export function countTouching(lane: LaneTasks, startS: number, stopS: number, runs: RunLimits, filter: PrefixFilter): number {
  const first = lane.firstReaching(startS);
  const last = lane.firstStarting(stopS);
  if (runs === null && filter.hidden === null) {
    return Math.max(last - first, 0);
  }
  let n = 0;
  for (let i = first; i < last; i += 1) {
    n += isShown(lane, i, runs, filter) ? 1 : 0;
  }
  return n;
}
