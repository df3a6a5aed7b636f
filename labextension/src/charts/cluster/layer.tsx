/** Activities of workers, over the bars of tasks. */
import { formatBytes, formatCount, formatDuration, printable } from '../../lib/format';
import { parseColour } from '../../lib/palette';
import { Seen } from '../../lib/seen';
import type { Span } from '../../lib/span';
import { timeAt, widthS } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import type { ActivityDetail, ActivitySum, ClusterStore, RunLimits, RunRange, Tables, TaskStore } from '../../store';
import { LaneTasks } from '../../store';
import type { ActivityKind } from '../../wire';
import { ACTIVITIES } from '../../wire';
import { hitTask } from '../tasks/find-task';
import { MeasuredRows } from '../tasks/measured';
import { isIn, isOf, secondsIn } from '../tasks/range';
import type { LaneLayer, LaneLayerContext, LaneLayout, Painting, PrefixFilter, Scene } from '../tasks/scene';
import { coverageQuery, rowAt } from '../tasks/scene';
import type { Facts, Tip } from '../timeline/track';
import type { ClusterCharts } from '../tracks';
import type { CanvasPoint } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import { WorkersTrack } from '../values/workers';
import { ACTIVITIES_CSS, ActivityLegend, KIND_STYLES, activityTable, cssColour, nameOf, paintStrip, stripTop } from './kinds';
import { hitLife, paintLife } from './life';

const TOLERANCE_PX = 3;
const STYLES = ACTIVITIES.map(kind => KIND_STYLES[kind]);
const NOTHING_OPEN = { open: new Map<number, never[]>() };

export class ActivityLayer implements LaneLayer {
  /** 1 for each kind that is hidden, by its code. */
  readonly #hidden = new Uint8Array(ACTIVITIES.length);
  readonly #shown: ShownActivities;
  #rows = new MeasuredRows();
  #dark = false;
  readonly #seen = new Seen();
  #sums: readonly ActivitySum[] = [];

  constructor(
    private readonly context: LaneLayerContext,
    private readonly cluster: ClusterStore
  ) {
    this.#shown = new ShownActivities(context.store);
  }

  readonly css = ACTIVITIES_CSS;

  get isApproximate(): boolean {
    return this.#rows.isApproximate;
  }

  shown(): readonly unknown[] {
    const { runRange, store } = this.context;
    const of = [this.cluster.activities, this.cluster.activities.version, runRange.firstRun, runRange.lastRun];
    if (this.#seen.isNew(...of)) {
      this.#sums = activitiesIn(this.cluster, [runRange.firstRun, runRange.lastRun ?? Infinity], { startS: -Infinity, stopS: Infinity });
    }
    return [...of, store.tables.remarks, this.#hidden.join()];
  }

  legend(theme: Theme): ComponentChildren {
    return (
      <ActivityLegend
        sums={this.#sums} missing={this.cluster.activities.missing} hidden={this.#hidden} theme={theme}
        toggle={code => {
          this.#hidden[code] = 1 - (this.#hidden[code] as number);
          this.context.request();
        }}
      />
    );
  }

  tables(): readonly TextTable[] {
    return this.#sums.length === 0 ? [] : [activityTable(this.#sums)];
  }

  waitsFor(nowS: number): string | null {
    return building(this.context.store, this.context.runRange, nowS);
  }

  linesIn(span: Span, runs: RunLimits): readonly string[] {
    return rangeLines(this.cluster, runs, span);
  }

  draw(pixels: Uint32Array, width: number, painting: Painting, ratio: number): void {
    this.#drawActivities(pixels, width, painting, ratio);
    paintLife(pixels, width, painting, this.context.store.tables, ratio);
  }

  #drawActivities(pixels: Uint32Array, width: number, painting: Painting, ratio: number): void {
    const { layout, scene, theme, filter, matches } = painting;
    this.#dark = theme.dark;
    if (this.cluster.activities.n === 0) {
      return;
    }
    if (this.#shown.hide(filter)) {
      this.#rows = new MeasuredRows();
    }
    const { activities } = this.cluster;
    const query = { ...coverageQuery(this.context.store, scene, this.#filter(), width), nPrefixes: ACTIVITIES.length };
    const source = { epoch: this.context.store.epoch, lane: (id: number): LaneTasks | undefined => this.#shown.of(activities.lane(id)) };
    const measured = this.#rows.measure(source, NOTHING_OPEN, layout.boxes.map(({ row }) => row), query);
    const colours = { dark: theme.dark, paper: parseColour(theme.lane) ?? [255, 255, 255], styles: STYLES, isBack: matches !== null } as const;
    measured.forEach((coverage, i) => {
      const topPx = layout.boxes[i]?.topPx;
      if (coverage !== null && topPx !== undefined) {
        const top = Math.round((topPx + (layout.rowPx - layout.barPx) / 2) * ratio);
        paintStrip(pixels, width, { top, height: Math.round(layout.barPx * ratio), ratio }, coverage, colours);
      }
    });
  }

  hit(scene: Scene, layout: LaneLayout, point: CanvasPoint, onTask: boolean): Tip | null {
    const box = rowAt(layout, point.yPx);
    const x = point.xPx - layout.plotLeftPx;
    if (box === null || x < 0 || x > layout.plotWidthPx) {
      return null;
    }
    const happened = hitLife(box.row, x, scene, layout, this.context.store.tables);
    if (happened !== null || box.row.kind !== 'lane') {
      return happened;
    }
    const barTop = box.topPx + (layout.rowPx - layout.barPx) / 2;
    if (onTask && point.yPx < stripTop({ top: barTop, height: layout.barPx, ratio: 1 })) {
      return null;
    }
    const { id } = box.row;
    const label = scene.lanes.find(lane => lane.id === id)?.label ?? box.row.label;
    const all = this.cluster.activities.lane(id);
    const lane = this.#shown.of(all);
    const timeS = timeAt(scene.span, layout.plotWidthPx, x);
    const nearS = (widthS(scene.span) / layout.plotWidthPx) * TOLERANCE_PX;
    const i = lane === undefined ? null : hitTask(lane, timeS, nearS, scene.runs, this.#filter());
    const at = i === null ? null : (all?.find(lane?.startS[i] ?? NaN, lane?.row[i] ?? -1) ?? null);
    const detail = at === null ? null : this.cluster.activities.detail(id, at);
    if (detail === null) {
      return null;
    }
    const { store } = this.context;
    const style = KIND_STYLES[detail.kind];
    return {
      kind: 'facts',
      facts: activityFacts(detail, label, scene.zeroS, store.tables, this.cluster),
      colour: cssColour(this.#dark ? style.dark : style.light)
    };
  }

  #filter(): PrefixFilter {
    return { hidden: this.#hidden.some(flag => flag === 1) ? this.#hidden : null, focus: -1 };
  }
}

/**
 * @param label of the lane
 * @param zeroS what counts as 0
 */
export function activityFacts(
  detail: ActivityDetail, label: string, zeroS: number, tables: Tables, { workers }: ClusterStore
): Facts {
  const { kind, startS, stopS, nbytes } = detail;
  const durationS = stopS - startS;
  const group = tables.groups[detail.group];
  const rows: [string, string][] = [
    [trans.__('Activity'), nameOf(kind)],
    ...(kind === 'transfer' ? [[trans.__('From'), sourceText(detail, workers.nameOf(detail.source ?? ''))] as [string, string]] : []),
    ...(kind === 'transfer' ? [[trans.__('Bytes'), nbytes === null ? trans.__('unknown') : formatBytes(nbytes)] as [string, string]] : []),
    ...(kind === 'failed-attempt' ? [[trans.__('Error'), detail.source === null ? trans.__('unknown') : printable(detail.source, 400)] as [string, string]] : []),
    [trans.__('For'), group === undefined ? trans.__('unknown') : printable(group.name, 200)],
    [trans.__('Thread'), label],
    [trans.__('Start'), formatDuration(startS - zeroS)],
    [trans.__('Duration'), formatDuration(durationS)]
  ];
  if (nbytes !== null && durationS > 0) {
    rows.push([trans.__('Rate'), trans.__('%1/s', formatBytes(nbytes / durationS))]);
  }
  return { key: nameOf(kind), rows, note: noteOn(kind) };
}

function noteOn(kind: ActivityKind): string | null {
  if (kind === 'failed-attempt') {
    return trans.__('The task was tried again: its bar is its last attempt. This one counts neither as a task nor as computing.');
  }
  return kind === 'transfer' ? trans.__('Data may be needed by several tasks: the scheduler names one of them.') : null;
}

function sourceText({ source }: ActivityDetail, name: string | null): string {
  if (source === null) {
    return trans.__('unknown');
  }
  return name === null || name === source ? printable(source, 80) : trans.__('worker %1 (%2)', printable(name, 40), printable(source, 80));
}

/** What a compute waits for of which no task is known yet; null: for its first task, as far as one can tell. */
export function building(store: TaskStore, runRange: RunRange, nowS: number): string | null {
  // Only a client sends one.
  const run = store.tables.runsIn(runRange).findLast(one => one.status === 'running' && one.sendS !== null);
  if (run === undefined || store.tables.progressIn({ firstRun: run.run, lastRun: run.run }).length > 0) {
    return null;
  }
  return trans.__('the scheduler builds the graph: %1', formatDuration(nowS - (run.startS ?? nowS)));
}

/** Sums by kind, cut at both ends of the range; bytes are all of those that moved some of them then. */
export function activitiesIn({ activities }: ClusterStore, runs: RunLimits, span: Span): ActivitySum[] {
  const sums = ACTIVITIES.map(kind => ({ kind, n: 0, seconds: 0, nbytes: 0 }));
  for (const id of activities.laneIds) {
    const lane = activities.lane(id);
    const last = lane?.firstStarting(span.stopS) ?? 0;
    for (let i = lane?.firstReaching(span.startS) ?? 0; lane !== undefined && i < last; i += 1) {
      const sum = sums[lane.prefix[i] as number];
      const [fromS, toS] = [lane.startS[i] as number, lane.stopS[i] as number];
      if (sum !== undefined && isOf(lane.run[i] as number, runs) && isIn(fromS, toS, span)) {
        sum.n += 1;
        sum.seconds += secondsIn(fromS, toS, span);
        sum.nbytes += activities.nbytesOf(lane, i) || 0;
      }
    }
  }
  return sums.filter(({ n }) => n > 0);
}

/** The largest sum over the workers that was sampled; null: there is no sample in the range. */
export function residentIn({ workers }: ClusterStore, { startS, stopS }: Span): number | null {
  const series = workers.series(null);
  let bytes = -1;
  for (let i = 0; i < series.n; i += 1) {
    const timeS = series.timeS[i] as number;
    const sample = series.rssBytes[i] as number;
    bytes = timeS >= startS && timeS <= stopS && sample > bytes ? sample : bytes;
  }
  return bytes < 0 ? null : bytes;
}

export function rangeLines(cluster: ClusterStore, runs: RunLimits, span: Span): string[] {
  const sums = activitiesIn(cluster, runs, span);
  const resident = residentIn(cluster, span);
  const { missing } = cluster.activities;
  return [
    ...sums.map(({ kind, n, seconds, nbytes }) => {
      const took = trans.__('%1: %2 in %3', nameOf(kind), formatDuration(seconds), formatCount(n));
      return nbytes > 0 ? trans.__('%1, of %2 with what was moved before and after.', took, formatBytes(nbytes)) : `${took}.`;
    }),
    ...(missing > 0 ? [trans.__('%1 shorter activities are no longer kept, in no sum here.', formatCount(missing))] : []),
    ...(cluster.workers.n === 0 ? [] : [
      resident === null ? trans.__('Memory of the workers: not sampled in this time.') : trans.__('Memory of all workers: %1 in the largest sample.', formatBytes(resident))
    ])
  ];
}

export class ShownActivities {
  #lanes = new WeakMap<LaneTasks, LaneTasks>();
  #hidden: PrefixFilter['hidden'] = null;

  constructor(private readonly store: Pick<TaskStore, 'tables'>) {}

  /** Hide what was done for these prefixes; returns whether these are others than before. */
  hide({ hidden }: PrefixFilter): boolean {
    if (hidden?.join() === this.#hidden?.join()) {
      return false;
    }
    this.#hidden = hidden;
    this.#lanes = new WeakMap();
    return true;
  }

  /** What is shown of a lane; its places are others than the lane's, its rows the same. */
  of(lane: LaneTasks | undefined): LaneTasks | undefined {
    if (lane === undefined || this.#hidden === null) {
      return lane;
    }
    const known = this.#lanes.get(lane);
    if (known?.version === lane.version) {
      return known;
    }
    const shown = this.#without(lane, this.#hidden);
    this.#lanes.set(lane, shown);
    return shown;
  }

  #without(lane: LaneTasks, hidden: Uint8Array): LaneTasks {
    const shown = new LaneTasks();
    for (let i = 0; i < lane.n; i += 1) {
      if (hidden[this.store.tables.prefixOfGroup(lane.group[i] as number) ?? -1] !== 1) {
        shown.copy(lane, i);
      }
    }
    shown.settle();
    shown.version = lane.version;
    return shown;
  }
}

/** What a timeline has more of where there is a cluster; only the pages of clusters have it. */
export const CLUSTER_CHARTS: ClusterCharts = {
  layer: context => (context.store.cluster === null ? null : new ActivityLayer(context, context.store.cluster)),
  workers: context => new WorkersTrack(context)
};
