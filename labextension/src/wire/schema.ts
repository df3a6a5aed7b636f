/** What comes from the kernel, protocol 1, as the browser uses it. Times are seconds after the recorder's zero; unknown is `null`. */
import type { Columns } from './codec';
import { CHOICES } from './tables';

/** A column of numbers. */
export type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

export const PROTOCOL = 1;

export const UNKNOWN_CODE = 65535;
export const TEXT_KEY = 255;

/** How a task ended, by its code on the wire. */
export const STATUSES = CHOICES.tasks.status;
export type TaskStatus = (typeof STATUSES)[number];

export const RUN_STATUSES = CHOICES.runs.status;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Tasks that belong together, such as all chunks of one array; `prefix` is the name without its token. */
export interface Group {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  /** The number of its prefix's colour, in all views of a session; null: recordings of old do not say. */
  readonly colour: number | null;
}

/** One row of the Gantt chart: a worker thread. */
export interface Lane {
  readonly id: number;
  readonly worker: string;
  readonly thread: number;
  readonly label: string;
}

/** What runs on a cluster call their scheduler. */
const CLUSTER = 'distributed';
/** What a run calls its scheduler that is no compute of this process: what other clients had it do meanwhile. */
const OTHERS = 'distributed, other clients';

/** Whether workers of a cluster computed it and hold its results. */
export function isOnCluster({ scheduler }: Pick<Run, 'scheduler'>): boolean {
  return scheduler === CLUSTER || scheduler === OTHERS;
}

/** Whether these are tasks of other clients: nobody knows how many there will be. */
export function isOfOthers({ scheduler }: Pick<Run, 'scheduler'>): boolean {
  return scheduler === OTHERS;
}

/** The numbers of those runs that are tasks of other clients. */
export function runsOfOthers(runs: readonly Pick<Run, 'run' | 'scheduler'>[]): ReadonlySet<number> {
  return new Set(runs.filter(isOfOthers).map(({ run }) => run));
}

/** One compute. */
export interface Run {
  readonly run: number;
  readonly label: string | null;
  /** The notebook's id of the cell that asked for it; `In [n]` where the front end tells none. */
  readonly cell: string | null;
  /** The `n` of `In [n]` that the cell had then. */
  readonly executionCount: number | null;
  /** CRC-32 of the source that ran, in UTF-8. */
  readonly sourceCrc: number | null;
  readonly scheduler: string | null;
  readonly nWorkers: number | null;
  readonly nTasks: number;
  readonly startS: number | null;
  readonly stopS: number | null;
  readonly status: RunStatus;
  readonly error: string | null;
  /** How long this process packed the graph, which ends where the compute begins. */
  readonly sendS: number | null;
  /** When a cluster's scheduler began with it, and how long each step took there. */
  readonly receivedS: number | null;
  readonly materializeS: number | null;
  readonly orderS: number | null;
  readonly initializeS: number | null;
  /** How long after its start the first process of its pool began; null: none has, or it has no such pool. */
  readonly poolStartS: number | null;
}

/** How far one prefix of one compute is. A task that ran several times counts once, as what it is by now. */
export interface PrefixProgress {
  readonly run: number;
  readonly prefix: string;
  readonly total: number;
  readonly finished: number;
  readonly erred: number;
  readonly running: number;
  readonly interrupted: number;
  /** Tasks that do not have to run, in no other count: a cluster has their results, or those of what needs them. */
  readonly skipped: number;
  /** How often tasks that ended ended once more. */
  readonly again: number;
  /** The sum over all ends. */
  readonly durationS: number | null;
  /** When the first one of which there is a row began; null: there is none. */
  readonly firstS: number | null;
  /** What those wait for that have neither ended nor run; null: nobody knows. */
  readonly scheduled: Scheduled | null;
}

/** What a cluster's scheduler said of tasks that no worker has. */
export interface Scheduled {
  /** When it said so; of several answers the oldest. */
  readonly timeS: number;
  /** About how many tasks it was asked; those that went to a worker or ended since are in none of the counts. */
  readonly asked: number;
  /** Whether these were all that there were. */
  readonly isAll: boolean;
  readonly queued: number;
  readonly waiting: number;
  /** Tasks for which no worker fits. */
  readonly noWorker: number;
}

/** A task in flight; `lane` is null where nobody knows which worker took it. */
export interface RunningTask {
  readonly run: number;
  readonly lane: number | null;
  readonly group: number;
  readonly key: string;
  readonly startS: number | null;
}

export type WorkerEvent = (typeof CHOICES)['messages']['event'][number];
/**
 * How a compute can be stopped: its cell is interrupted, which ends it; its futures are cancelled, as its cell has
 * ended; not at all, as another thread than that of cells runs it; it was asked to end already; or its cell is
 * interrupted or its futures are cancelled, as the cell runs and the futures would outlive that.
 */
export type StopWay = (typeof CHOICES)['stops']['way'][number];

/** When a compute will end; about four of five true ends lie between `earliestS` and `latestS`, if the `nUnseen` tasks of prefixes of which none has ended are like the others. */
export interface Estimate {
  readonly run: number;
  readonly stopS: number;
  readonly earliestS: number;
  readonly latestS: number;
  readonly nUnseen: number;
}

/** What was dropped, restored or estimated. */
export interface Remark {
  readonly timeS: number | null;
  readonly level: string;
  readonly text: string;
  /** Of what has happened to a worker: its address, and what. */
  readonly worker: string | null;
  readonly event: WorkerEvent | null;
}

/** Keys as columns; row `i` takes `dims[i]` integers, or one text where that is TEXT_KEY. */
export interface KeyColumns {
  readonly dims: Uint8Array;
  readonly ints: Int32Array;
  readonly lengths: Uint16Array;
  readonly text: Uint8Array;
}

type OfKeys = 'dims' | 'keyText' | `i${number}`;

/** Ended tasks, in the order the kernel recorded them: columns as they are declared, all equally long, NaN: unknown; but for these. */
export interface TaskColumns extends Readonly<Record<Exclude<keyof Columns<'tasks'>, OfKeys | 'durationS' | 'error'>, Column>> {
  readonly startS: Column;
  readonly keys: KeyColumns;
  /** Of each task that did not finish, in order: its place in the batch's `errors`, or UNKNOWN_CODE. */
  readonly error: Column;
}

/** Samples of CPU and memory, by time; all columns are equally long. */
export interface ResourceColumns {
  /** The recorder's number of the first sample. */
  readonly first: number;
  /** What the process may use; null: unknown. */
  readonly nCores: number | null;
  readonly limitBytes: number | null;
  readonly timeS: Column;
  /** 100 per core; NaN: unknown. */
  readonly cpuPercent: Column;
  readonly rssBytes: Column;
  readonly nProcesses: Column;
  /** 1 where samples are missing before this one. */
  readonly gap: Column;
}

/** From a moment on, what the scheduler holds of a group; all columns are equally long. */
export interface HeldColumns {
  readonly first: number;
  readonly run: Column;
  readonly group: Column;
  readonly timeS: Column;
  readonly nKeys: Column;
  /** Of the keys whose size is known; `nUnsized` are not. */
  readonly nbytes: Column;
  readonly nUnsized: Column;
  /** In the user's metric of the run; null: no run of these has one. */
  readonly value: Column | null;
  readonly nUnvalued: Column | null;
  /** The names of users' metrics, by run. */
  readonly metrics: ReadonlyMap<number, string>;
  /** Rows may be missing, because what was held of some compute is not known. */
  readonly isUnknown: boolean;
}

/** One message. Tables hold only what is new or changed since the last one, `estimates`, `stops` and `running` all there is. */
export interface Batch {
  readonly recorder: string;
  /** Which loading of taskscope in which kernel; ids and rows of another epoch mean something else. */
  readonly epoch: string;
  /** Number of the message in this page's stream, from 0. */
  readonly seq: number;
  readonly nowS: number | null;
  /** Whether a compute runs. */
  readonly active: boolean;
  /** Whether this repeats the state a second after the end. */
  readonly final: boolean;
  /** The recorder's number of the first row of `tasks`. */
  readonly first: number;
  readonly count: number;
  /** Rows ever recorded, and rows the recorder no longer holds. */
  readonly cursor: number;
  readonly dropped: number;
  readonly tasks: TaskColumns;
  /** The different texts of this message's failed tasks: type and message. */
  readonly errors: readonly string[];
  readonly groups: readonly Group[];
  readonly lanes: readonly Lane[];
  readonly runs: readonly Run[];
  readonly progress: readonly PrefixProgress[];
  readonly estimates: readonly Estimate[];
  readonly stops: readonly { readonly run: number; readonly way: StopWay }[];
  readonly running: readonly RunningTask[];
  readonly remarks: readonly Remark[];
  readonly resources: ResourceColumns;
  readonly held: HeldColumns;
  /** What only clusters have; null: nothing. */
  readonly cluster: ClusterPart | null;
  /** What became known of older tasks. */
  readonly metered: MeteredColumns;
}

/** CPU time that became known after its task was told of: the recorder's numbers of rows, and codes of `cpu_from`. */
export interface MeteredColumns {
  readonly row: Column;
  readonly cpuS: Column;
  readonly cpuFrom: Column;
}

/** Kinds of activity by their code on the wire. */
export const ACTIVITIES = CHOICES.activities.activity;
export type ActivityKind = (typeof ACTIVITIES)[number];

/** What workers did besides computing; columns are equally long, but for the completed ones. */
export interface ActivityColumns {
  /** The recorder's number of the first row, and how many rows it no longer holds. */
  readonly first: number;
  readonly dropped: number;
  readonly run: Column;
  readonly lane: Column;
  readonly kind: Column;
  readonly group: Column;
  readonly source: Column;
  readonly startS: Column;
  readonly durationS: Column;
  readonly nbytes: Column;
  /** Numbers of older rows, and what became known of them. */
  readonly completedRow: Column;
  readonly completedBytes: Column;
  /** The addresses, and the errors of failed attempts, that sources are numbers of, as far as they are new. */
  readonly sources: readonly { readonly id: number; readonly address: string }[];
}

export interface ClusterWorker {
  readonly id: number;
  readonly address: string;
  readonly name: string;
  readonly nThreads: number;
}

/** What workers said of themselves; columns are equally long. */
export interface WorkerColumns extends Readonly<Record<keyof Columns<'worker_samples'>, Column>> {
  readonly first: number;
  /** Workers that are new, or are called something else now. */
  readonly workers: readonly ClusterWorker[];
}

export interface ClusterPart {
  readonly activities: ActivityColumns;
  readonly workers: WorkerColumns;
  /** Sums that are new or have grown. */
  readonly metrics: readonly PrefixSeconds[];
}

/** How long all workers together spent on one activity in executing tasks of one prefix. */
export interface PrefixSeconds {
  readonly run: number;
  readonly prefix: string;
  readonly activity: string;
  readonly seconds: number;
}
