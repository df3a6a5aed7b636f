/** A recording as a file has it; times are seconds after the recorder's zero. */
import type { Group, Lane, Remark, Run } from '../wire';
import type { KeyBlock } from './keys';

/** How a task ended or, in a snapshot of a compute that went on, did not. */
export const STATUSES = ['finished', 'erred', 'interrupted', 'lost', 'running'] as const;
export const RUNNING = STATUSES.indexOf('running');
/** The bit of `flags` that says that the scheduler took the times; those below are the status. */
export const SCHEDULER_OBSERVED = 8;

/** Activities as a file has them; `task` is a number in the graph of the run. */
export interface FileActivities {
  readonly run: Int32Array;
  readonly task: Int32Array;
  readonly lane: Uint16Array;
  readonly kind: Uint8Array;
  readonly start: Float64Array;
  readonly duration: Float32Array;
  readonly source: Uint32Array;
  readonly nbytes: Float64Array;
  /** How many older ones were no longer held. */
  readonly dropped: number;
}

/** One worker at one moment; NaN: unknown. */
export interface FileWorkerSample {
  readonly timeS: number;
  readonly worker: string;
  readonly name: string;
  readonly nThreads: number;
  readonly nExecuting: number;
  readonly cpuPercent: number;
  readonly rssBytes: number;
  readonly managedBytes: number;
  readonly spilledBytes: number;
  readonly limitBytes: number;
}

/** Tasks of one run that reached an end; `task` is their number in the run's graph. */
export interface RowBlock {
  readonly run: number;
  readonly task: Int32Array;
  readonly start: Float64Array;
  readonly duration: Float32Array;
  /** NaN: unknown. */
  readonly cpu: Float32Array;
  readonly size: Uint32Array | Float64Array;
  readonly lane: Uint16Array;
  readonly flags: Uint8Array;
}

/** What is known of one run's graph; all columns but `edges` have one entry for each key, data included. */
export interface Graph {
  readonly keys: KeyBlock;
  readonly group: Uint32Array;
  readonly nDependencies: Uint8Array | Uint32Array;
  readonly edges: Int32Array;
  /** When each result entered the scheduler's cache: seconds (NaN: never), or microseconds after `enterZero`. */
  readonly enter: Uint32Array | Float64Array;
  readonly enterZero: number;
  readonly kept: Int32Array;
  readonly data: Int32Array;
  readonly dataSizes: Float64Array;
  /** What the user's cache metric gave; null: there is none. */
  readonly values: Float64Array | null;
  /** Tasks that did not have to run: a cluster had their results, or those of what needs them. */
  readonly spared: Int32Array;
  readonly errors: ReadonlyMap<number, string>;
  /** Whether dependencies and what was held are known. */
  readonly isKnown: boolean;
}

/** CPU and memory, by time. */
export interface Samples {
  readonly time: Float64Array;
  readonly cpuPercent: Float64Array;
  readonly rssBytes: Float64Array;
  readonly nProcesses: Float64Array;
  readonly gap: Float64Array;
}

/** From a moment on, what workers of a cluster were seen to hold of a group. */
export interface Holdings {
  readonly run: Int32Array;
  readonly group: Uint32Array;
  readonly time: Float64Array;
  readonly nKeys: Uint32Array;
  readonly nbytes: Float64Array;
  readonly nUnsized: Uint32Array;
}

export interface FileRecording {
  /** ISO 8601, with a time zone. */
  readonly startedAt: string;
  readonly zeroS: number;
  readonly nowS: number;
  readonly runs: readonly Run[];
  readonly groups: readonly Group[];
  readonly lanes: readonly Lane[];
  readonly remarks: readonly Remark[];
  readonly blocks: readonly RowBlock[];
  readonly graphs: ReadonlyMap<number, Graph>;
  readonly samples: Samples;
  readonly activities: FileActivities;
  /** Addresses that the data of activities came from; the first is none. */
  readonly sources: readonly string[];
  readonly workers: readonly FileWorkerSample[];
  readonly holdings: Holdings;
  /** How many tasks of these runs were no longer held. */
  readonly dropped: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Tables, and `stacks`, of which this has nothing or not all. */
  readonly unknown: ReadonlySet<string>;
  /** Why this is not all; null: it is. */
  readonly problem: string | null;
}
