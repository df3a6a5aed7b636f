/** The range of time that a person selected: how it is moved, and what ran in it. */
import { UNKNOWN, formatBytes, formatCount, formatDuration, formatPercent, formatShares, printable } from '../../lib/format';
import { lowerBound, upperBound } from '../../lib/search';
import { Seen } from '../../lib/seen';
import type { Span } from '../../lib/span';
import { clamp, widthS } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { HeldMoments, RunLimits, RunRange, TaskStore } from '../../store';
import { LatestMoments } from '../../store';
import type { KnownPath } from '../../wire';
import { isOnCluster } from '../../wire';
import type { TrackContext } from '../timeline/track';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import { Table } from '../ui/text-table';
import { Button } from '../ui/toolbar';
import type { LaneLayer, Scene } from './scene';
import type { Findings } from './why/findings';
import type { PathSums } from './why/path';
import { sumsOf, waitsText } from './why/path';

export class SelectedRange {
  /** Another one whenever there is something else to say; null: no time is selected. */
  text: RangeText | null = null;
  #numbers: RangeNumbers | null = null;
  #zeroS = 0;
  readonly #seen = new Seen();
  readonly #moments = new LatestMoments();

  readonly #nobody: KnownPath;

  /** @param findings of what is shown, null: nobody works them out; @param given is the critical path where there are none */
  constructor(
    private readonly context: TrackContext, private readonly layer: LaneLayer | null, private readonly findings: () => Findings | null,
    private readonly given: KnownPath | null
  ) {
    this.#nobody = { reason: trans.__('no kernel works it out here; in Python, recording.critical_path() does') };
  }

  update(scene: Scene): void {
    const path = this.findings()?.path ?? this.given ?? this.#nobody;
    const { axis: { range }, store, runRange } = this.context;
    if (!this.#seen.isNew(...(range === null ? [] : [range.startS, range.stopS, store.version, runRange.id, scene.paused, path]))) {
      return;
    }
    this.#zeroS = scene.zeroS;
    this.#numbers = range === null ? null : numbersOf(store, runRange, scene, range, { moments: this.#moments.of(store.held, runRange, 'bytes'), path });
    const others = this.#numbers === null ? [] : (this.layer?.linesIn(this.#numbers.span, scene.runs) ?? []);
    const isGrowing = range !== null && scene.growing && range.stopS > scene.nowS;
    this.text = range === null ? null : rangeText(this.#numbers, others, { zeroS: scene.zeroS, isGrowing });
  }

  /** In one sentence, to be read aloud. */
  said(): string {
    if (this.text === null || this.#numbers === null) {
      return this.text?.title ?? '';
    }
    const { span, nTasks, busyS, idleS } = this.#numbers;
    return trans.__(
      'selected %1 to %2: %3 tasks, %4 busy', formatDuration(span.startS - this.#zeroS), formatDuration(span.stopS - this.#zeroS), formatCount(nTasks),
      formatPercent(busyS / (busyS + idleS))
    );
  }

  /** Have it fill the chart; false: nothing is selected. */
  zoom(): boolean {
    const { axis: { range }, navigator } = this.context;
    if (range !== null) {
      navigator.show(range);
    }
    return range !== null;
  }

  /** Select no time; false: none was selected. */
  clear(): boolean {
    const { axis } = this.context;
    const was = axis.range !== null;
    if (was) {
      axis.select(null);
    }
    return was;
  }

  panel(): ComponentChildren {
    const text = this.text;
    const [findings, span] = [this.findings(), this.#numbers?.span];
    const copy = (): void => {
      if (this.#numbers !== null) {
        this.context.exporter.copy([rangeTable(this.#numbers, this.#zeroS)]);
      }
    };
    const close = (): void => {
      this.clear();
      this.context.focus();
    };
    return (
      <div class="tsk-gantt-range" role="region" aria-label={trans.__('Selected time range')} hidden={text === null}>
        {text !== null && (
          <>
            <p class="tsk-gantt-range-title">{text.title}</p>
            {text.lines.map(line => <p>{line}</p>)}
            {text.table !== null && <div class="tsk-text-table" role="group" aria-label={text.table.caption} tabIndex={0}><Table {...text.table} /></div>}
            {text.more !== '' && <p>{text.more}</p>}
            <div class="tsk-bar">
              {span && findings?.button(span)}
              <Button text={trans.__('Zoom to it')} label={trans.__('Zoom to it: the selected time fills the chart (Z)')} act={() => { this.zoom(); }} />
              <Button text={trans.__('Copy')} label={trans.__('Copy the table of the selected time')} act={copy} hidden={text.table === null} />
              <Button text={trans.__('Close')} label={trans.__('Close: select no time (Escape)')} act={close} />
            </div>
            {span && findings?.why(span)}
          </>
        )}
      </div>
    );
  }
}

/** Types in the page; a copy has all. */
const MAX_TYPES = 12;
const MAX_REASON = 300;

export interface RangeText {
  readonly title: string;
  readonly table: TextTable | null;
  readonly more: string;
  /** What is no task: a line each. */
  readonly lines: readonly string[];
}

/** The sentences and the table of a range; times since `zeroS`, `others` are lines of what was no task. */
export function rangeText(
  numbers: RangeNumbers | null, others: readonly string[], { zeroS, isGrowing }: { readonly zeroS: number; readonly isGrowing: boolean }
): RangeText {
  if (numbers === null) {
    return { title: trans.__('Selected time: nothing was computed then'), table: null, more: '', lines: [] };
  }
  const { span, types, nTasks } = numbers;
  const [from, to, width] = [span.startS - zeroS, span.stopS - zeroS, widthS(span)].map(formatDuration) as [string, string, string];
  const nMore = Math.max(types.length - MAX_TYPES, 0);
  const title = trans._n('%3 to %4 (%5): %2 task', '%3 to %4 (%5): %2 tasks', nTasks, formatCount(nTasks), from, to, width);
  return {
    title: isGrowing ? `${title}, ${trans.__('those that run count until now')}` : title,
    table: rangeTable(numbers, zeroS, MAX_TYPES),
    more: nMore === 0 ? '' : trans._n('and %2 more task type', 'and %2 more task types', nMore, formatCount(nMore)),
    lines: linesOf(numbers, others)
  };
}

export function rangeTable({ span, types, taskS, path }: RangeNumbers, zeroS: number, atMost = Infinity): TextTable {
  const shares = formatShares(types.map(({ seconds }) => seconds), taskS);
  return {
    caption: trans.__('Tasks from %1 to %2, cut at both', formatDuration(span.startS - zeroS), formatDuration(span.stopS - zeroS)),
    columns: [trans.__('Task type'), trans.__('Time'), trans.__('Share'), trans.__('Tasks'), ...('reason' in path ? [] : [trans.__('On the longest chain')])],
    rows: types.slice(0, atMost).map(({ prefix, seconds, n }, i) => [
      printable(prefix, 60), formatDuration(seconds), shares[i] ?? UNKNOWN, formatCount(n),
      ...('reason' in path ? [] : [onPath(path.prefixS.get(prefix))])
    ])
  };
}

function linesOf({ nLanes, busyS, idleS, residentBytes, held, path }: RangeNumbers, others: readonly string[]): string[] {
  const lanes = trans._n('%2 thread', '%2 threads', nLanes, formatCount(nLanes));
  return [
    trans.__('Busy %1 (%2), idle %3, over %4.', formatDuration(busyS), formatPercent(busyS / (busyS + idleS)), formatDuration(idleS), lanes),
    ...others,
    residentBytes === null
      ? trans.__('Memory of the process: not sampled in this time.')
      : trans.__('Memory of the process: %1 in the largest sample.', formatBytes(residentBytes)),
    ...(held === null ? [] : [heldText(held)]),
    pathLine(path)
  ];
}

const onPath = (seconds: number | undefined): string => (seconds === undefined ? '–' : formatDuration(seconds));

function pathLine(path: RangeNumbers['path']): string {
  if ('reason' in path) {
    return trans.__('Who was on the longest chain is not known: %1.', printable(path.reason, MAX_REASON));
  }
  const { nTasks, taskS, waitsS } = path;
  const tasks = trans._n('On the longest chain: %2 task for %3', 'On the longest chain: %2 tasks for %3', nTasks, formatCount(nTasks), formatDuration(taskS));
  return waitsS.length === 0 ? `${tasks}.` : trans.__('%1, waits of %2.', tasks, waitsText(waitsS));
}

function heldText({ bytes, isAtLeast }: MostBytes): string {
  return isAtLeast ? trans.__('Results in memory: at least %1 at their most.', formatBytes(bytes)) : trans.__('Results in memory: %1 at their most.', formatBytes(bytes));
}

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
export function numbersOf(store: TaskStore, runRange: RunRange, scene: Scene, range: Span, { moments, path }: Known): RangeNumbers | null {
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
    held: heldIn(store, runRange, moments, span),
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

export const isOf = (run: number, runs: RunLimits): boolean => runs === null || (run >= runs[0] && run <= runs[1]);

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
  let most = -1;
  for (let i = from; i < to; i += 1) {
    most = Math.max(most, resources.mostBytes(i) || -1);
  }
  return most < 0 ? null : most;
}

/** The most bytes of results that were held at a time, what was held already when the range began included. */
function heldIn({ held, tables }: TaskStore, runRange: RunRange, moments: HeldMoments, { startS, stopS }: Span): MostBytes | null {
  // What was held at the last moment before the range is held when it begins.
  const from = Math.max(upperBound(moments.timeS, moments.n, startS) - 1, 0);
  const to = lowerBound(moments.timeS, moments.n, stopS);
  if (from >= to) {
    return null;
  }
  const isPartial = moments.unknown.subarray(from, to).some(unknown => unknown > 0);
  return { bytes: moments.total[moments.mostIn(from, to)] as number, isAtLeast: isPartial || held.isUnknown || tables.runsIn(runRange).some(isOnCluster) };
}
