/** Batches as small as a test needs them: no tasks, and only the rows that it writes down. */
import type { Batch, Columns, Estimate, Group, Lane, PageTables, PrefixProgress, PrefixSeconds, Remark, Run, RunningTask, StopWay } from '../../src/wire';
import { CHOICES, TABLES } from '../../src/wire/tables';

/** A row as a test writes it: columns that may be unknown are unknown where they are left out. */
type Written<R> = { [C in keyof R as null extends R[C] ? never : C]: R[C] } & { [C in keyof R as null extends R[C] ? C : never]?: R[C] };

/** The rows of a batch, and what its row of state says. */
export interface SmallBatch {
  epoch: string;
  seq: number;
  nowS: number | null;
  active: boolean;
  dropped: number;
  groups: readonly (Written<Group> & { id?: number })[];
  lanes: readonly (Written<Lane> & { id?: number })[];
  runs: readonly Run[];
  progress: readonly PrefixProgress[];
  estimates: readonly Estimate[];
  stops: readonly { run: number; way: StopWay }[];
  liveStates: readonly { run: number; text: string }[];
  running: readonly RunningTask[];
  remarks: readonly Remark[];
  errors: readonly string[];
  seconds: readonly PrefixSeconds[];
  tasks: PageTables['tasks'];
  resources: PageTables['resources'] & { nCores?: number | null; limitBytes?: number | null };
  held: PageTables['cache'] & { metrics?: ReadonlyMap<number, string>; isUnknown?: boolean };
  /** Sections of other tables. */
  tables: Partial<PageTables>;
}

type Cell = number | string | boolean | null;

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const { keys, tasks, running } = TABLES;
const KINDS: Record<string, { readonly columns: Record<string, string> }> = {
  ...TABLES, tasks: { columns: { ...keys.columns, ...tasks.columns } }, running: { columns: { ...keys.columns, ...running.columns } }
};

/** The columns of keys. */
export function keyColumns(rows: readonly object[]): Columns<'keys'> {
  return sectionOf('keys', rows).columns;
}

/** A section of these rows; a choice is its word, what a row leaves out is unknown. */
export function sectionOf<T extends keyof PageTables>(table: T, rows: readonly object[] = [], first = 0): PageTables[T] {
  const choices = (CHOICES as Partial<Record<string, Record<string, readonly string[]>>>)[table] ?? {};
  const columns = Object.entries(KINDS[table]?.columns ?? {}).map(([name, kind]) => {
    const property = camel(name);
    const cells = rows.map(row => {
      const cell = (row as Record<string, Cell | undefined>)[property] ?? null;
      return typeof cell === 'string' && choices[name] !== undefined ? choices[name].indexOf(cell) : cell;
    });
    return [property, kind.startsWith('text') ? cells : Float64Array.from(cells, cell => (cell === null ? (kind.includes('?') ? NaN : 0) : Number(cell)))];
  });
  return { first, n: rows.length, columns: Object.fromEntries(columns) as object } as unknown as PageTables[T];
}

/** All tables without rows, but for these. */
export function sectionsOf(tables: Partial<PageTables> = {}): PageTables {
  const names = Object.keys(TABLES) as (keyof typeof TABLES)[];
  return { ...Object.fromEntries(names.map(name => [name, sectionOf(name)])), ...tables } as PageTables;
}

export function smallBatch(batch: Partial<SmallBatch> = {}): Batch {
  const { epoch = 'r-1', seq = 0, nowS = 0, active = true, dropped = 0, groups = [], lanes = [], resources, held, tasks } = batch;
  const state = { nowS, active, nDropped: dropped, nCores: resources?.nCores, limitBytes: resources?.limitBytes, cacheUnknown: held?.isUnknown };
  const tables = sectionsOf({
    state: sectionOf('state', [state]),
    groups: sectionOf('groups', groups, groups[0]?.id),
    lanes: sectionOf('lanes', lanes, lanes[0]?.id),
    runs: sectionOf('runs', batch.runs?.map(run => ({ ...run, metric: run.metric ?? held?.metrics?.get(run.run) ?? null }))),
    progress: sectionOf('progress', batch.progress),
    estimates: sectionOf('estimates', batch.estimates),
    stops: sectionOf('stops', batch.stops),
    live_states: sectionOf('live_states', batch.liveStates),
    running: sectionOf('running', batch.running),
    messages: sectionOf('messages', batch.remarks, seq === 0 ? 0 : 1),
    errors: sectionOf('errors', batch.errors?.map(text => ({ text }))),
    seconds: sectionOf('seconds', batch.seconds),
    ...(tasks && { tasks }), ...(resources && { resources }), ...(held && { cache: held }),
    ...batch.tables
  });
  return { recorder: 'r', epoch, seq, tables };
}

export function smallRun(run: Partial<Run> = {}): Run {
  return {
    run: 0, label: null, cell: null, executionCount: null, sourceCrc: null, scheduler: 'threads', nWorkers: 2, nTasks: 10,
    startS: 0, stopS: null, status: 'running', error: null,
    sendS: null, receivedS: null, materializeS: null, orderS: null, initializeS: null, poolStartS: null,
    lockShare: null, graphBytes: null, largestArgument: null, largestArgumentBytes: null, array: null, calledFrom: null, metric: null,
    nRuns: 1, lastRun: null, computingS: null,
    ...run
  };
}

export function smallProgress(row: Partial<PrefixProgress> = {}): PrefixProgress {
  return {
    run: 0, prefix: 'add', total: 10, finished: 0, erred: 0, running: 0, interrupted: 0, released: 0, skipped: 0, again: 0, durationS: 0, firstS: null,
    scheduledS: null, asked: null, isAll: null, queued: null, waiting: null, noWorker: null,
    ...row
  };
}
