/**
 * Rows of the page's tables, protocol 1; what their columns mean stands in `taskscope/model/streams.py`. Times are seconds
 * after the recorder's zero, unknown is `null`, a choice is its word.
 */
import type { Columns, Row, Section, Sections, TableName } from './codec';
import { rowsOf } from './codec';
import { CHOICES } from './tables';

export const PROTOCOL = 1;

type WithKeys = 'tasks' | 'running';
/** All tables of one message; tasks have the columns of the rows of `keys` that they refer to. */
export type PageTables = Omit<Sections, WithKeys> & {
  readonly [T in WithKeys]: Omit<Section<T>, 'columns'> & { readonly columns: Columns<T> & Columns<'keys'> };
};
type PageRow<T extends TableName> = T extends WithKeys ? Row<T> & Row<'keys'> : Row<T>;

export const TEXT_KEY = 255;

/** How a task ended, by its code on the wire. */
export const STATUSES = CHOICES.tasks.status;
export type TaskStatus = (typeof STATUSES)[number];

export const RUN_STATUSES = CHOICES.runs.status;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** What workers do for tasks besides computing them, by their code on the wire. */
export const ACTIVITIES = CHOICES.activities.activity;
export type ActivityKind = (typeof ACTIVITIES)[number];

type Choices = typeof CHOICES;
type ChosenIn<T extends TableName> = T extends keyof Choices ? { readonly [C in keyof Choices[T] & keyof Row<T>]: Word<Choices[T][C], Row<T>[C]> } : object;
type Word<Words, Code> = (Words extends readonly (infer W)[] ? W : never) | Extract<Code, null>;
/** One row of a table. */
export type TableRow<T extends TableName> = Omit<PageRow<T>, keyof ChosenIn<T>> & ChosenIn<T>;

/** The rows of a table one by one; for small tables. */
export function tableRows<T extends TableName>(tables: Pick<PageTables, T>, name: T): TableRow<T>[] {
  const choices = Object.entries((CHOICES as Partial<Record<string, Record<string, readonly string[]>>>)[name] ?? {});
  return rowsOf<T>(tables[name] as unknown as Section<T>).map(row => {
    const codes = row as Readonly<Record<string, unknown>>;
    const words = choices.map(([column, of]) => [column, codes[column] === null ? null : of[codes[column] as number]]);
    return { ...row, ...Object.fromEntries(words) as object } as unknown as TableRow<T>;
  });
}

/** Tasks that belong together, such as all chunks of one array. */
export type Group = TableRow<'groups'>;
/** One row of the Gantt chart: a worker thread. */
export type Lane = TableRow<'lanes'>;
/** One compute. */
export type Run = TableRow<'runs'>;
/**
 * How far one prefix of one compute is; a task that ran several times counts once, by its last attempt. From `scheduledS` on:
 * where a cluster's scheduler had its tasks that no worker has, null: unknown.
 */
export type PrefixProgress = TableRow<'progress'>;
/** A task in flight; `lane` is null where it is unknown which worker took it. */
export type RunningTask = Pick<TableRow<'running'>, 'run' | 'lane' | 'group' | 'startS'> & { readonly keyText: string };
/** When a compute will end. */
export type Estimate = TableRow<'estimates'>;
/** How a compute can be stopped. */
export type StopWay = TableRow<'stops'>['way'];
/** What was dropped, restored or estimated, and what has happened to workers. */
export type Remark = TableRow<'messages'>;
export type WorkerEvent = NonNullable<Remark['event']>;
export type ClusterWorker = TableRow<'workers'>;
/** How long all workers together spent on one activity in executing tasks of one prefix. */
export type PrefixSeconds = TableRow<'seconds'>;

/** What runs on a cluster call their scheduler. */
const CLUSTER = 'distributed';

/** Whether workers of a cluster computed it and hold its results. */
export function isOnCluster({ scheduler }: Pick<Run, 'scheduler'>): boolean {
  return scheduler === CLUSTER;
}
