/** What is under the pointer. */
import { timeAt, widthS } from '../../lib/span';
import type { Sight, TaskDetail, TaskRef, TaskStore } from '../../store';
import { Coverage } from '../../store';
import { countTouching, hitTask } from './hit';
import type { GanttLayout } from './layout';
import { rowAt } from './layout';
import { lookOf } from './look';
import type { OpenBar, Scene } from './model';
import type { WorkerRow } from './rows';

/** A place of the canvas. */
export interface Place {
  readonly xPx: number;
  readonly yPx: number;
}

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

/** What is at a place: a task, or the nearest one within a few pixels, or a collapsed worker. */
export function findTask(store: TaskStore, scene: Scene, layout: GanttLayout, place: Place, sight: Sight): Found | null {
  const row = rowAt(layout, place.yPx)?.row;
  const x = place.xPx - layout.plotLeftPx;
  if (row === undefined || x < 0 || x > layout.plotWidthPx) {
    return null;
  }
  const timeS = timeAt(scene.span, layout.plotWidthPx, x);
  const pixelS = widthS(scene.span) / layout.plotWidthPx;
  if (row.kind === 'lane') {
    return taskAt(store, scene, row, timeS, pixelS, sight);
  }
  return row.collapsed ? workerAt(store, scene, row, timeS, pixelS, sight) : null;
}

function taskAt(
  store: TaskStore,
  scene: Scene,
  { id, label }: { readonly id: number; readonly label: string },
  timeS: number,
  pixelS: number,
  sight: Sight
): Found | null {
  const lane = store.lane(id);
  const i = lane === undefined ? null : hitTask(lane, timeS, pixelS * TOLERANCE_PX, scene.runs, sight);
  const detail = i === null ? null : store.detail(id, i);
  const isIn = detail !== null && timeS >= detail.startS && timeS <= detail.stopS;
  if (!isIn) {
    const bar = openAt(scene, id, timeS, sight);
    if (bar !== undefined) {
      return { kind: 'open', bar, lane: id, label };
    }
  }
  if (lane === undefined || i === null || detail === null) {
    return null;
  }
  const sharing = countTouching(lane, timeS - pixelS / 2, timeS + pixelS / 2, scene.runs, sight);
  return { kind: 'ended', ref: { lane: id, row: lane.row[i] ?? 0, startS: detail.startS }, detail, label, sharing };
}

/** The innermost one of the tasks in flight. */
function openAt({ open, nowS }: Scene, lane: number, timeS: number, { hidden }: Sight): OpenBar | undefined {
  return open.get(lane)?.findLast(bar => timeS >= bar.startS && timeS <= nowS && hidden?.[bar.prefix] !== 1);
}

function workerAt(store: TaskStore, scene: Scene, row: WorkerRow, timeS: number, pixelS: number, sight: Sight): FoundWorker {
  const span = { startS: timeS - pixelS / 2, stopS: timeS + pixelS / 2 };
  const lanes = row.lanes.map(id => ({ tasks: store.lane(id), open: scene.open.get(id) ?? [] }));
  const coverage = new Coverage();
  coverage.measure(lanes, lookOf(store, { ...scene, span }, sight, 1));
  let nTasks = 0;
  for (const { tasks, open } of lanes) {
    nTasks += tasks === undefined ? 0 : countTouching(tasks, span.startS, span.stopS, scene.runs, sight);
    nTasks += open.filter(bar => sight.hidden?.[bar.prefix] !== 1 && bar.startS < span.stopS && scene.nowS > span.startS).length;
  }
  return { kind: 'worker', row, timeS, busyLanes: (coverage.cover[0] ?? 0) * lanes.length, nTasks };
}
