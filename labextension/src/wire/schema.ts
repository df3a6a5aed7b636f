/**
 * What comes from the kernel, protocol 1, as the browser uses it: rows and columns of the tables that are declared, whose
 * meanings stand in `taskscope/model/streams.py`. Times are seconds after the recorder's zero; unknown is `null`.
 */
import type { Columns, Row } from './codec';
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

/** Tasks that belong together, such as all chunks of one array. */
export type Group = Row<'groups'> & { readonly id: number };

/** One row of the Gantt chart: a worker thread. */
export type Lane = Row<'lanes'> & { readonly id: number };

/** What runs on a cluster call their scheduler. */
const CLUSTER = 'distributed';

/** Whether workers of a cluster computed it and hold its results. */
export function isOnCluster({ scheduler }: Pick<Run, 'scheduler'>): boolean {
  return scheduler === CLUSTER;
}

/** One compute. */
export interface Run extends Pick<
  Row<'runs'>,
  | 'run' | 'label' | 'cell' | 'executionCount' | 'sourceCrc' | 'scheduler' | 'nWorkers' | 'nTasks' | 'startS' | 'stopS' | 'error'
  | 'sendS' | 'receivedS' | 'materializeS' | 'orderS' | 'initializeS' | 'poolStartS'
> {
  readonly status: RunStatus;
}

/** How far one prefix of one compute is. A task that ran several times counts once, as what it is by now. */
export interface PrefixProgress extends Pick<
  Row<'progress'>,
  'run' | 'prefix' | 'total' | 'finished' | 'erred' | 'running' | 'interrupted' | 'skipped' | 'again' | 'durationS' | 'firstS'
> {
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
export interface RunningTask extends Omit<Row<'running'>, 'keyText'> {
  readonly key: string;
}

export type WorkerEvent = (typeof CHOICES)['messages']['event'][number];
/** How a compute can be stopped. */
export type StopWay = (typeof CHOICES)['stops']['way'][number];

/** When a compute will end. */
export type Estimate = Row<'estimates'>;

/** What was dropped, restored or estimated, and what has happened to workers. */
export interface Remark extends Omit<Row<'messages'>, 'level' | 'event'> {
  readonly level: string;
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

type NumbersOf<Names extends PropertyKey> = Readonly<Record<Names, Column>>;

/** Samples of CPU and memory, by time. */
export interface ResourceColumns extends NumbersOf<keyof Columns<'resources'>> {
  /** The recorder's number of the first sample. */
  readonly first: number;
  /** What the process may use; null: unknown. */
  readonly nCores: number | null;
  readonly limitBytes: number | null;
}

/** From a moment on, what the scheduler holds of a group. */
export interface HeldColumns extends NumbersOf<Exclude<keyof Columns<'cache'>, 'value' | 'nUnvalued'>> {
  readonly first: number;
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

/** CPU time that became known after its task was told of. */
export type MeteredColumns = NumbersOf<keyof Columns<'metered'>>;

/** Kinds of activity by their code on the wire. */
export const ACTIVITIES = CHOICES.activities.activity;
export type ActivityKind = (typeof ACTIVITIES)[number];

/** What workers did besides computing. */
export interface ActivityColumns extends NumbersOf<Exclude<keyof Columns<'activities'>, 'activity'>> {
  /** The recorder's number of the first row, and how many rows it no longer holds. */
  readonly first: number;
  readonly dropped: number;
  readonly kind: Column;
  /** Numbers of older rows, and what became known of them. */
  readonly completedRow: Column;
  readonly completedBytes: Column;
  /** The addresses, and the errors of failed attempts, that sources are numbers of, as far as they are new. */
  readonly sources: readonly { readonly id: number; readonly address: string }[];
}

export interface ClusterWorker extends Omit<Row<'workers'>, 'worker'> {
  readonly id: number;
}

/** What workers said of themselves. */
export interface WorkerColumns extends NumbersOf<keyof Columns<'worker_samples'>> {
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
export type PrefixSeconds = Row<'metrics'>;
