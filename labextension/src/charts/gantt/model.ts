/** What a Gantt chart shows of a store: which lanes, which span, which colours. */
import type { Span } from '../../lib/span';
import { printable } from '../../lib/format';
import type { OpenTask, RunRange, RunWindow, TaskStore } from '../../store';
import { ALL_RUNS, inWindow } from '../../store';
import type { TimeFrame, View } from '../ui/time-frame';
import { timeFrame } from '../ui/time-frame';
import type { LaneLabel } from './layout';

export interface Scene extends TimeFrame {
  readonly lanes: readonly LaneLabel[];
  readonly runs: RunRange;
  readonly open: ReadonlyMap<number, readonly OpenTask[]>;
}

/** Work out what `view` shows now; null before there is any compute. */
export function sceneOf(store: TaskStore, window: RunWindow, view: View): Scene | null {
  const frame = timeFrame(store, window, view);
  if (frame === null) {
    return null;
  }
  const runs = rangeOf(window);
  const open = openTasks(store, window);
  return { ...frame, lanes: lanesOf(store, frame.bounds, runs, open), runs, open };
}

function rangeOf({ firstRun, lastRun }: RunWindow): RunRange {
  return firstRun === ALL_RUNS.firstRun && lastRun === null ? null : [firstRun, lastRun ?? Infinity];
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
