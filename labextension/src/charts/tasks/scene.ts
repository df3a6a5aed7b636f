/** Where lanes and their bars go; pure geometry in CSS pixels. */
import type { Span } from '../../lib/span';
import { clamp, pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { LaneTasks, CoverageQuery, OpenTask, RunLimits, RunRange, PrefixFilter, TaskStore } from '../../store';
import { ALL_RUNS, inRunRange } from '../../store';
import type { RunningTask } from '../../wire';
import type { Room } from '../timeline/drawing';
import { MAX_BRIEF_PX, MAX_TRACK_PX } from '../timeline/drawing';
import type { PlotBox, ShownTime } from '../timeline/time';
import type { Tip } from '../timeline/track';
import type { CanvasPoint } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import type { LaneView, Row } from './rows';

export interface RowBox {
  readonly row: Row;
  readonly topPx: number;
}

export interface LaneLayout extends PlotBox {
  /** Height of the part with rows that is in sight. */
  readonly plotHeightPx: number;
  readonly rowPx: number;
  /** How far the rows are scrolled. */
  readonly scrollPx: number;
  /** Height of a bar; the rest of the row is the gap below. */
  readonly barPx: number;
  /** Rows in sight, top to bottom; the first may begin above the edge. */
  readonly boxes: readonly RowBox[];
}

type LaneRoom = PlotBox & Pick<Room, 'scrollPx'> & Partial<Pick<Room, 'isBrief'>>;

const MIN_PLOT_PX = 36;
const CHARACTER_PX = 6.3;

/** How high all rows are together. */
export function lanesHeightPx(rows: readonly Row[], isBrief = false): number {
  return Math.max(rows.length * rowHeightPx(rows.length, isBrief), MIN_PLOT_PX);
}

export function layoutLanes(rows: readonly Row[], { plotLeftPx, plotWidthPx, scrollPx, isBrief = false }: LaneRoom): LaneLayout {
  const rowPx = rowHeightPx(rows.length, isBrief);
  const plotHeightPx = Math.min(lanesHeightPx(rows, isBrief), isBrief ? MAX_BRIEF_PX : MAX_TRACK_PX);
  const first = Math.max(Math.floor(scrollPx / rowPx), 0);
  const last = Math.ceil((scrollPx + plotHeightPx) / rowPx);
  return {
    plotLeftPx,
    plotWidthPx,
    plotHeightPx,
    rowPx,
    scrollPx,
    barPx: rowPx - (rowPx >= 18 ? 4 : 2),
    boxes: rows.slice(first, last).map((row, i) => ({ row, topPx: (first + i) * rowPx - scrollPx }))
  };
}

/** Few rows are tall and easy to hit; many are as low as a label allows. */
export function rowHeightPx(nRows: number, isBrief = false): number {
  if (isBrief) {
    return nRows <= 4 ? 22 : nRows <= 6 ? 18 : 14;
  }
  return nRows <= 4 ? 30 : nRows <= 8 ? 26 : nRows <= 16 ? 22 : nRows <= 32 ? 18 : 14;
}

/** How much room the labels ask for. */
export function gutterPx(rows: readonly Row[], widthPx: number): number {
  const longest = rows.reduce((most, row) => Math.max(most, charactersOf(row)), 0);
  const most = Math.max(Math.min(260, widthPx * 0.3), 92);
  return Math.round(Math.min(Math.max(longest * CHARACTER_PX + 18, 48), most));
}

/** How wide a label is: the row of a worker also has a mark that opens it and its number of lanes. */
function charactersOf(row: Row): number {
  return row.kind === 'lane' ? row.label.length + (row.inset ? 2 : 0) : row.label.length + 5 + `${row.lanes.length}`.length;
}

/** The row at a height of the canvas; null above, below and between the last row and the axis. */
export function rowAt(layout: LaneLayout, yPx: number): RowBox | null {
  if (yPx < 0 || yPx >= layout.plotHeightPx) {
    return null;
  }
  return layout.boxes.find(box => yPx >= box.topPx && yPx < box.topPx + layout.rowPx) ?? null;
}

export type { CoverageQuery, PrefixFilter };

/** A task in flight, and what is known of it. */
export interface OpenBar extends OpenTask {
  readonly task: RunningTask;
}

export interface Scene extends ShownTime, LaneView {
  readonly runs: RunLimits;
  readonly open: ReadonlyMap<number, readonly OpenBar[]>;
}

/** The lanes of some computes, given all there is. */
export type FindLanes = (bounds: Span, runs: RunLimits, open: Iterable<number>) => LaneView;

export function sceneOf(store: TaskStore, runRange: RunRange, time: ShownTime, findLanes: FindLanes): Scene {
  const runs = limitsOf(runRange);
  const open = openTasks(store, runRange);
  return { ...time, ...findLanes(time.bounds, runs, open.keys()), runs, open };
}

function limitsOf({ firstRun, lastRun }: RunRange): RunLimits {
  return firstRun === ALL_RUNS.firstRun && lastRun === null ? null : [firstRun, lastRun ?? Infinity];
}

function openTasks(store: TaskStore, runRange: RunRange): Map<number, OpenBar[]> {
  const open = new Map<number, OpenBar[]>();
  for (const task of store.tables.running) {
    const { run, lane, group, startS } = task;
    if (lane === null || startS === null || !inRunRange(run, runRange)) {
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
  return { span, columns, runs, filter: filter, nowS, untilS: paused ? nowS : Infinity, nPrefixes: store.tables.prefixes.length };
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

export interface Painting {
  readonly layout: LaneLayout;
  readonly scene: Scene;
  readonly theme: Theme;
  readonly prefixColour: (prefix: number) => string;
  readonly filter: PrefixFilter;
  /** Null: nothing is looked for. */
  readonly matches: Matches | null;
  /** Lines between the selected task and others. */
  readonly relations: readonly Relation[];
  readonly selected: BarPlace | null;
}

/** Where a bar begins and ends on the canvas, cut at the plot's edges. */
export function barPx({ layout, scene }: Pick<Painting, 'layout' | 'scene'>, startS: number, stopS: number): { leftPx: number; rightPx: number } {
  const at = (timeS: number): number => clamp(pxAt(scene.span, layout.plotWidthPx, timeS), 0, layout.plotWidthPx);
  return { leftPx: layout.plotLeftPx + at(startS), rightPx: layout.plotLeftPx + at(stopS) };
}

export function isShown(lane: LaneTasks, i: number, runs: RunLimits, { hidden }: PrefixFilter): boolean {
  const run = lane.run[i] ?? 0;
  return (runs === null || (run >= runs[0] && run <= runs[1])) && hidden?.[lane.prefix[i] ?? 0] !== 1;
}

/** What the tasks give a layer. */
export interface LaneLayerContext {
  readonly store: TaskStore;
  readonly runRange: RunRange;
  /** Paint soon. */
  request(): void;
}

/** The same words as a track has, without a room of its own. */
export interface LaneLayer {
  readonly css: string;
  /** Whether what was drawn last is not exact yet. */
  readonly isApproximate: boolean;
  /** What its words and pictures are made of. */
  shown(): readonly unknown[];
  /** Draw over the bars, in an image of `width` pixels a row, `ratio` to one of CSS. */
  draw(pixels: Uint32Array, width: number, painting: Painting, ratio: number): void;
  /** What there is at a point. `onTask`: a task is there too. */
  hit(scene: Scene, layout: LaneLayout, point: CanvasPoint, onTask: boolean): Tip | null;
  legend(theme: Theme): ComponentChildren;
  tables(): readonly TextTable[];
  /** What is waited for while no task is known yet; null: for the first task, as far as one can tell. */
  waitsFor(nowS: number): string | null;
  /** What there is to say of a span of some computes, a line each. */
  linesIn(span: Span, runs: RunLimits): readonly string[];
}

/** Null: there is nothing that could be drawn. */
export type MakeLaneLayer = (context: LaneLayerContext) => LaneLayer | null;
