/** What the lanes of tasks show of a store, and all that one painting of them needs to know. */
import type { Span } from '../../lib/span';
import { clamp, pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { LaneTasks, Look as CoverageQuery, OpenTask, RunRange, RunWindow, Sight as PrefixFilter, TaskStore } from '../../store';
import { ALL_RUNS, inWindow } from '../../store';
import type { RunningTask } from '../../wire';
import type { TimeFrame } from '../timeline/time/time-frame';
import type { LaneLayout } from './layout';
import type { LaneView } from './rows';

export type { CoverageQuery, PrefixFilter };

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

/** The lanes at a time frame. */
export function sceneOf(store: TaskStore, window: RunWindow, frame: TimeFrame, findLanes: FindLanes): Scene {
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

/** What is measured of all of a scene's span, in `columns` parts. */
export function coverageQuery(store: TaskStore, { span, runs, nowS, paused }: Scene, filter: PrefixFilter, columns: number): CoverageQuery {
  return { span, columns, runs, sight: filter, nowS, untilS: paused ? nowS : Infinity, nPrefixes: store.tables.prefixes.length };
}

/** Where a bar is; one that is in flight has no row yet. */
export interface BarPlace {
  readonly lane: number;
  readonly startS: number;
  readonly stopS: number;
}

/** From where one task stopped to where another began. */
export interface Relation {
  readonly kind: 'dependency' | 'dependent';
  readonly fromLane: number;
  readonly fromS: number;
  readonly toLane: number;
  readonly toS: number;
}

/** What a person looks for: all else steps back. */
export interface Matches {
  /** Those of a lane that have ended. */
  lane(id: number): LaneTasks | undefined;
  hasOpen(task: RunningTask): boolean;
}

export interface Picture {
  readonly layout: LaneLayout;
  readonly scene: Scene;
  readonly theme: Theme;
  readonly prefixColour: (prefix: number) => string;
  readonly filter: PrefixFilter;
  /** Null: nothing is looked for. */
  readonly matches: Matches | null;
  /** Lines between the selected task and others. */
  readonly relations: readonly Relation[];
  readonly hovered: BarPlace | null;
  readonly selected: BarPlace | null;
}

/** Where a bar begins and ends on the canvas, cut at the plot's edges. */
export function barPx({ layout, scene }: Pick<Picture, 'layout' | 'scene'>, startS: number, stopS: number): { leftPx: number; rightPx: number } {
  const at = (timeS: number): number => clamp(pxAt(scene.span, layout.plotWidthPx, timeS), 0, layout.plotWidthPx);
  return { leftPx: layout.plotLeftPx + at(startS), rightPx: layout.plotLeftPx + at(stopS) };
}

/** Whether a task of a lane is shown at all. */
export function isShown(lane: LaneTasks, i: number, runs: RunRange, { hidden }: PrefixFilter): boolean {
  const run = lane.run[i] ?? 0;
  return (runs === null || (run >= runs[0] && run <= runs[1])) && hidden?.[lane.prefix[i] ?? 0] !== 1;
}
