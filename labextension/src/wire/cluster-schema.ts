/** What only clusters have, as the browser uses it: activities besides computing, and samples of workers. */

import type { Column } from './schema';
import { CHOICES } from './tables';

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
export interface WorkerColumns {
  readonly first: number;
  readonly worker: Column;
  readonly timeS: Column;
  /** 0: it has left. */
  readonly nThreads: Column;
  readonly nExecuting: Column;
  readonly cpuPercent: Column;
  readonly rssBytes: Column;
  readonly managedBytes: Column;
  readonly spilledBytes: Column;
  readonly limitBytes: Column;
  /** Workers that are new, or are called something else now. */
  readonly workers: readonly ClusterWorker[];
}

export interface ClusterPart {
  readonly activities: ActivityColumns;
  readonly workers: WorkerColumns;
}
