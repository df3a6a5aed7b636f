/** What a Gantt chart shows of a store: which lanes, which span, which colours. */
import type { Span } from '../../lib/span';
import type { OpenTask, RunRange, RunWindow, TaskStore } from '../../store';
import { ALL_RUNS, inWindow } from '../../store';
import type { RunningTask } from '../../wire';
import type { TimeFrame, View } from '../ui/time-frame';
import { timeFrame } from '../ui/time-frame';
import type { LaneView } from './lanes';

/** A task in flight, and what is known of it. */
export interface OpenBar extends OpenTask {
  readonly task: RunningTask;
}

export interface Scene extends TimeFrame, LaneView {
  readonly runs: RunRange;
  readonly open: ReadonlyMap<number, readonly OpenBar[]>;
}

/** The lanes of a window, given all there is. */
export type FindLanes = (bounds: Span, runs: RunRange, open: Iterable<number>) => LaneView;

/** Work out what `view` shows now, or showed when time was held; null before there is any compute. */
export function sceneOf(store: TaskStore, window: RunWindow, view: View, findLanes: FindLanes, heldS: number | null = null): Scene | null {
  const frame = timeFrame(store, window, view, heldS);
  if (frame === null) {
    return null;
  }
  const runs = rangeOf(window);
  const open = openTasks(store, window);
  return { ...frame, ...findLanes(frame.bounds, runs, open.keys()), runs, open };
}

function rangeOf({ firstRun, lastRun }: RunWindow): RunRange {
  return firstRun === ALL_RUNS.firstRun && lastRun === null ? null : [firstRun, lastRun ?? Infinity];
}

function openTasks(store: TaskStore, window: RunWindow): Map<number, OpenBar[]> {
  const open = new Map<number, OpenBar[]>();
  for (const task of store.tables.running) {
    const { run, lane, group, startS } = task;
    if (lane === null || startS === null || !inWindow(run, window)) {
      continue;
    }
    const ofLane = open.get(lane) ?? [];
    ofLane.push({ startS, prefix: store.tables.prefixOfGroup(group) ?? 0, task });
    open.set(lane, ofLane);
  }
  return open;
}
