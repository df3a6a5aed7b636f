/** What the progress chart shows, from counts and times alone; no DOM. */
import { formatDuration } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { FailureKind, TaskStore } from '../../store';
import { ALL_RUNS } from '../../store';
import type { Estimate, PrefixProgress, Run, StopWay } from '../../wire';
import { isOnCluster } from '../../wire';

/** A cell that runs. */
export interface RunningCell {
  readonly count: number;
  /** As `performance.now` had it when it began. */
  readonly sinceMs: number;
  /** Its computes have this number or a later one. */
  readonly firstRun: number;
}

/** How far computes are at one moment; all times on one axis. */
export interface ProgressInput {
  readonly rows: readonly PrefixProgress[];
  readonly runs: readonly RunTimes[];
  readonly estimates: readonly Estimate[];
  readonly failures: readonly FailureKind[];
  /** What keeps computes from going on, by their numbers. */
  readonly liveStates?: ReadonlyMap<number, string>;
  /** How computes can be stopped, by their numbers. */
  readonly stops?: ReadonlyMap<number, StopWay>;
  readonly nowS: number;
  /** For how long the kernel has sent nothing. */
  readonly silentS?: number;
  /** A cell that runs and has computed nothing, and for how long it runs. */
  readonly cell?: { readonly count: number; readonly forS: number } | null;
  /** How many tasks the workers of a cluster have said since then that they run; null: not all have. Left out: nobody knows. */
  readonly executingSince?: (sinceS: number) => number | null;
}

export type RunTimes = Pick<Run, 'run' | 'nTasks' | 'startS' | 'stopS' | 'status' | 'error' | 'scheduler' | 'sendS'>;

export type ProgressState = 'waiting' | 'running' | 'finished' | 'erred' | 'interrupted';

export function isOver(state: ProgressState): boolean {
  return state !== 'waiting' && state !== 'running';
}

/** How long it will still take: `none` while nothing runs, `estimating` before there is evidence. */
export type Eta =
  | { readonly kind: 'none' }
  | { readonly kind: 'estimating' }
  | { readonly kind: 'estimate'; readonly seconds: number; readonly lowS: number; readonly highS: number; readonly nUnseen: number };

export interface Counts {
  readonly total: number;
  readonly finished: number;
  readonly erred: number;
  readonly running: number;
  readonly interrupted: number;
  /** How many of the interrupted ones were released: their futures were deleted. */
  readonly released: number;
}

/** Tasks that have neither ended nor are with a worker. */
export interface Ahead {
  /** How many there are, and about how many of them the scheduler was asked. */
  readonly total: number;
  readonly asked: number;
  /** Whether it was asked about all of them. */
  readonly isAll: boolean;
  /** How long ago it said so; of several answers the oldest. */
  readonly ageS: number;
  readonly queued: number;
  readonly waiting: number;
  readonly noWorker: number;
}

/** Counts, and what is known of the tasks of clusters among them. */
export interface ShownCounts extends Counts {
  /** Tasks that do not have to run, because a cluster has what they would give; they are not among the others. */
  readonly skipped: number;
  /** Whether workers of a cluster have the running ones; some of them may wait there. */
  readonly atWorkers: boolean;
  /** What those wait for that no worker has; null where nobody knows, and where there are none. */
  readonly ahead: Ahead | null;
}

export interface PrefixRow extends ShownCounts {
  readonly prefix: string;
  /** Durations of its tasks that ended, summed; null: unknown. */
  readonly seconds: number | null;
}

export interface ProgressLayout extends ShownCounts {
  readonly state: ProgressState;
  /** The `n` of `In [n]` of a cell that runs and has computed nothing; left out: there is none. */
  readonly cell?: number;
  /** Whether it is still being found out how many tasks there are; `total` is those that are known by then. */
  readonly counting: boolean;
  /** How many of the running ones their workers have begun; null: that is not known. */
  readonly executing: number | null;
  /** What keeps all running computes from going on, as the kernel words it: `no workers yet, 3 s`. */
  readonly liveState: string;
  /** How many computes these are. */
  readonly nRuns: number;
  /** What the first failed compute failed with, where no task says so. */
  readonly error: string | null;
  /** What tasks raised, by prefix and message. */
  readonly errors: readonly FailureKind[];
  /** How many of the interrupted ones had a worker that died. */
  readonly lost: number;
  /** Finished tasks of all, 0 without any or before they were counted. */
  readonly fraction: number;
  /** Seconds during which at least one compute ran. */
  readonly elapsedS: number;
  readonly eta: Eta;
  /** One row per prefix of which tasks have to run, in the order of the input. */
  readonly prefixes: readonly PrefixRow[];
}

/** What workers said longer ago than this is not what they do now. */
const MAX_HEARTBEAT_S = 5;

/** Running while anything runs; after that the worst end of all computes. */
const WORST_FIRST = ['running', 'interrupted', 'erred', 'finished'] as const;

/** Work out what to show of these computes at this moment. */
export function layoutProgress(input: ProgressInput): ProgressLayout {
  const { failures, nowS, runs, rows } = input;
  const onCluster = new Set(runs.filter(isOnCluster).map(({ run }) => run));
  const sums = sumShown(rows, onCluster, nowS);
  const total = plannedTasks(rows, runs);
  const skipped = new Set(rows.filter(row => row.skipped > 0).map(({ run }) => run));
  const uncounted = new Set(
    runs.filter(({ run, status, nTasks }) => status === 'running' && nTasks === 0 && !skipped.has(run)).map(({ run }) => run)
  );
  const errors = failures.filter(kind => kind.status === 'erred');
  return {
    ...sums,
    total,
    state: stateOf(runs),
    counting: uncounted.size > 0,
    executing: countExecuting(input, onCluster, sums.running),
    liveState: liveStateOf(input),
    nRuns: runs.length,
    error: runs.find(run => run.error !== null && !errors.some(kind => kind.error === run.error))?.error ?? null,
    errors,
    lost: failures.reduce((n, kind) => n + (kind.status === 'lost' ? kind.n : 0), 0),
    fraction: total === 0 || uncounted.size > 0 ? 0 : sums.finished / total,
    elapsedS: elapsedS(runs, nowS),
    eta: isStopping(input) ? { kind: 'none' } : timeLeft(input),
    prefixes: byPrefix(rows.filter(row => !uncounted.has(row.run)), onCluster, nowS),
    ...(input.cell ? { cell: input.cell.count, liveState: trans.__('nothing computed yet, %1', formatDuration(Math.floor(input.cell.forS))) } : {})
  };
}

/** What a scheduler has given to workers is not what they have begun; they say that themselves, twice a second at most. */
function countExecuting({ rows, runs, nowS, executingSince }: ProgressInput, onCluster: ReadonlySet<number>, running: number): number | null {
  const of = new Set(rows.filter(row => row.running > 0).map(({ run }) => run));
  if (of.size === 0 || executingSince === undefined || [...of].some(run => !onCluster.has(run))) {
    return null;
  }
  const begunS = runs.filter(({ run }) => of.has(run)).map(({ startS }) => startS ?? Infinity);
  const executing = executingSince(Math.max(nowS - MAX_HEARTBEAT_S, ...begunS));
  return executing === null ? null : Math.min(executing, running);
}

/** A kernel that computes sends something each second, unless no thread of Python runs. */
const SILENT_S = 3;

/** Whether all that runs was asked to end: it takes as long as it takes. */
function isStopping({ runs, stops }: ProgressInput): boolean {
  const going = runs.filter(({ status }) => status === 'running');
  return going.length > 0 && going.every(({ run }) => stops?.get(run) === 'asked');
}

function liveStateOf(input: ProgressInput): string {
  const { runs, liveStates = new Map<number, string>(), silentS = 0 } = input;
  const going = runs.filter(({ status }) => status === 'running').map(({ run }) => liveStates.get(run));
  if (isStopping(input)) {
    return trans.__('stopping…');
  }
  if (going.length > 0 && silentS >= SILENT_S) {
    return trans.__('kernel busy in C code or out of reach, %1', formatDuration(Math.floor(silentS)));
  }
  return going.every(text => text !== undefined) ? going[0] ?? '' : '';
}

function stateOf(runs: readonly RunTimes[]): ProgressState {
  const seen = new Set(runs.map(run => run.status));
  return WORST_FIRST.find(state => seen.has(state)) ?? 'waiting';
}

function sumShown(rows: readonly PrefixProgress[], onCluster: ReadonlySet<number>, nowS: number): ShownCounts {
  return { ...sumCounts(rows), atWorkers: rows.some(row => row.running > 0 && onCluster.has(row.run)), ahead: sumAhead(rows, nowS) };
}

function sumCounts(rows: readonly PrefixProgress[]): Counts & Pick<ShownCounts, 'skipped'> {
  const sum = { total: 0, finished: 0, erred: 0, running: 0, interrupted: 0, released: 0, skipped: 0 };
  for (const row of rows) {
    sum.total += row.total;
    sum.finished += row.finished;
    sum.erred += row.erred;
    sum.running += row.running;
    sum.interrupted += row.interrupted;
    sum.released += row.released;
    sum.skipped += row.skipped;
  }
  return sum;
}

/** The sums over rows; null where nobody knows, or there are no such tasks. */
function sumAhead(rows: readonly PrefixProgress[], nowS: number): Ahead | null {
  const parts = rows.filter(row => ahead(row) > 0);
  const known = parts.filter(({ scheduledS }) => scheduledS !== null);
  if (known.length === 0) {
    return null;
  }
  const sum = (of: readonly PrefixProgress[], value: (row: PrefixProgress) => number | null): number => of.reduce((total, row) => total + (value(row) ?? 0), 0);
  return {
    total: sum(parts, ahead),
    asked: sum(known, row => row.asked),
    isAll: known.length === parts.length && known.every(row => row.isAll === 1),
    ageS: Math.max(nowS - Math.min(...known.map(row => row.scheduledS ?? 0)), 0),
    queued: sum(known, row => row.queued),
    waiting: sum(known, row => row.waiting),
    noWorker: sum(known, row => row.noWorker)
  };
}

function ahead({ total, finished, erred, interrupted, running }: PrefixProgress): number {
  return Math.max(total - finished - erred - interrupted - running, 0);
}

/** While a large graph is still being counted, its compute already knows how many tasks it has. */
function plannedTasks(rows: readonly PrefixProgress[], runs: readonly RunTimes[]): number {
  const counted = new Map<number, number>();
  for (const row of rows) {
    counted.set(row.run, (counted.get(row.run) ?? 0) + row.total);
  }
  return runs.reduce((sum, run) => sum + Math.max(run.nTasks, counted.get(run.run) ?? 0), 0);
}

function byPrefix(rows: readonly PrefixProgress[], onCluster: ReadonlySet<number>, nowS: number): PrefixRow[] {
  const found = new Map<string, PrefixProgress[]>();
  for (const row of rows) {
    const same = found.get(row.prefix);
    if (same === undefined) {
      found.set(row.prefix, [row]);
    } else {
      same.push(row);
    }
  }
  return Array.from(found, ([prefix, same]) => ({ prefix, seconds: sumSeconds(same), ...sumShown(same, onCluster, nowS) }))
    .filter(({ total }) => total > 0);
}

function sumSeconds(rows: readonly PrefixProgress[]): number | null {
  const seconds = rows.reduce((sum, row) => sum + (row.durationS ?? NaN), 0);
  return Number.isNaN(seconds) ? null : seconds;
}

/** Task types with the share of all tasks' time that each had, the largest first; none where that is not known. */
export function sharesOfTime({ prefixes }: Pick<ProgressLayout, 'prefixes'>): readonly { readonly prefix: string; readonly seconds: number; readonly share: number }[] {
  const all = prefixes.reduce((sum, { seconds }) => sum + (seconds ?? NaN), 0);
  return all > 0
    ? prefixes.map(({ prefix, seconds }) => ({ prefix, seconds: seconds ?? 0, share: (seconds ?? 0) / all })).sort((a, b) => b.seconds - a.seconds)
    : [];
}

/** Length of the union of the computes' times: what ran at once counts once. */
export function elapsedS(runs: readonly Pick<RunTimes, 'startS' | 'stopS' | 'sendS'>[], nowS: number): number {
  const spans = runs
    .flatMap(({ startS, stopS, sendS }) => (startS === null ? [] : [[startS - (sendS ?? 0), stopS ?? nowS] as const]))
    .sort((a, b) => a[0] - b[0]);
  let sum = 0;
  let reached = -Infinity;
  for (const [start, stop] of spans) {
    sum += Math.max(0, stop - Math.max(start, reached));
    reached = Math.max(reached, stop);
  }
  return sum;
}

/** The kernel knows the durations and the graph, so it estimates; here the computes are only put together. */
function timeLeft({ runs, estimates, nowS }: ProgressInput): Eta {
  const active = runs.filter(run => run.status === 'running');
  if (active.length === 0) {
    return { kind: 'none' };
  }
  const ids = new Set(active.map(run => run.run));
  const known = estimates.filter(estimate => ids.has(estimate.run));
  if (known.length < active.length) {
    return { kind: 'estimating' };
  }
  const last = (stops: readonly number[]): number => Math.max(...stops.map(stopS => stopS - nowS), 0);
  return {
    kind: 'estimate',
    seconds: last(known.map(estimate => estimate.stopS)),
    lowS: last(known.map(estimate => estimate.earliestS)),
    highS: last(known.map(estimate => estimate.latestS)),
    nUnseen: known.reduce((n, estimate) => n + estimate.nUnseen, 0)
  };
}

export function layoutOf({ tables, clock }: TaskStore, shown: ReadonlySet<number>): ProgressLayout {
  const runs = tables.runsIn(ALL_RUNS).filter(({ run }) => shown.has(run));
  const rows = tables.progressIn(ALL_RUNS).filter(({ run }) => shown.has(run));
  return layoutProgress({ runs, rows, estimates: tables.estimates, liveStates: tables.liveStates, stops: tables.stops, failures: [], nowS: clock.nowS(), silentS: clock.silentS });
}
