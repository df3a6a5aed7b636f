/** What only clusters have, as the browser uses it: activities besides computing, and samples of workers. */

/** Kinds of activity by their code on the wire. */
export const ACTIVITIES = ['transfer', 'disk-read', 'disk-write', 'deserialize', 'serialize', 'other', 'failed-attempt'] as const;
export type ActivityKind = (typeof ACTIVITIES)[number];

/** These follow HELD_BUFFERS where a message has a `cluster`, one entry for each activity… */
export const ACTIVITY_BUFFERS = [
  { name: 'activity_lane', bytes: 2 },
  /** Index in ACTIVITIES. */
  { name: 'activity_kind', bytes: 1 },
  /** Of the task it was done for. */
  { name: 'activity_group', bytes: 2 },
  /** Number of a source; 0: none; UNKNOWN_CODE: one of too many. */
  { name: 'activity_source', bytes: 2 },
  { name: 'activity_start_s', bytes: 8 },
  /** f32 */
  { name: 'activity_duration_s', bytes: 4 },
  /** f64, NaN: unknown. */
  { name: 'activity_nbytes', bytes: 8 }
] as const;

/** …then one for each older activity of which the bytes have become known… */
export const COMPLETED_BUFFERS = [
  { name: 'completed_row', bytes: 4 },
  { name: 'completed_nbytes', bytes: 8 }
] as const;

/** …and one for each sample of a worker; NaN: unknown. */
export const WORKER_BUFFERS = [
  { name: 'worker', bytes: 2 },
  { name: 'worker_time_s', bytes: 8 },
  /** 0: it has left. */
  { name: 'worker_n_threads', bytes: 4 },
  { name: 'worker_n_executing', bytes: 2 },
  /** f32, 100 per core. */
  { name: 'worker_cpu_percent', bytes: 4 },
  { name: 'worker_rss_bytes', bytes: 8 },
  { name: 'worker_managed_bytes', bytes: 8 },
  { name: 'worker_spilled_bytes', bytes: 8 },
  { name: 'worker_limit_bytes', bytes: 8 }
] as const;

/** What workers did besides computing; columns are equally long, but for the completed ones. */
export interface ActivityColumns {
  /** The recorder's number of the first row, and how many rows it no longer holds. */
  readonly first: number;
  readonly dropped: number;
  readonly run: Int32Array;
  readonly lane: Uint16Array;
  readonly kind: Uint8Array;
  readonly group: Uint16Array;
  readonly source: Uint16Array;
  readonly startS: Float64Array;
  readonly durationS: Float32Array;
  readonly nbytes: Float64Array;
  /** Numbers of older rows, and what became known of them. */
  readonly completedRow: Uint32Array;
  readonly completedBytes: Float64Array;
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
export interface WorkerColumns {
  readonly first: number;
  readonly worker: Uint16Array;
  readonly timeS: Float64Array;
  /** 0: it has left. */
  readonly nThreads: Uint32Array;
  readonly nExecuting: Uint16Array;
  readonly cpuPercent: Float32Array;
  readonly rssBytes: Float64Array;
  readonly managedBytes: Float64Array;
  readonly spilledBytes: Float64Array;
  readonly limitBytes: Float64Array;
  /** Workers that are new, or are called something else now. */
  readonly workers: readonly ClusterWorker[];
}

export interface ClusterPart {
  readonly activities: ActivityColumns;
  readonly workers: WorkerColumns;
}
