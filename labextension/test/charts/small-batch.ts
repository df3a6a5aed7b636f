/** Batches as small as a test needs them: no tasks, and only the rows that it writes down. */
import type { Batch, Estimate, Group, Lane, PrefixProgress, PrefixSeconds, Remark, Run, RunningTask, Section, Sections, StopWay } from '../../src/wire';
import { CHOICES, TABLES } from '../../src/wire/tables';

/** The rows of a batch, and what its row of state says. */
export interface SmallBatch {
  epoch: string;
  seq: number;
  nowS: number | null;
  active: boolean;
  dropped: number;
  groups: readonly (Group & { id?: number })[];
  lanes: readonly (Lane & { id?: number })[];
  runs: readonly Run[];
  progress: readonly PrefixProgress[];
  estimates: readonly Estimate[];
  stops: readonly { run: number; way: StopWay }[];
  running: readonly RunningTask[];
  remarks: readonly Remark[];
  errors: readonly string[];
  seconds: readonly PrefixSeconds[];
  tasks: Section<'tasks'>;
  metered: Section<'metered'>;
  resources: Section<'resources'> & { nCores?: number | null; limitBytes?: number | null };
  held: Section<'cache'> & { metrics?: ReadonlyMap<number, string>; isUnknown?: boolean };
  /** Sections of other tables. */
  tables: Partial<Sections>;
}

type Cell = number | string | boolean | null;

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A section of these rows; a choice is its word, what a row leaves out is unknown. */
export function sectionOf<T extends keyof typeof TABLES>(table: T, rows: readonly object[] = [], first = 0): Section<T> {
  const choices = (CHOICES as Partial<Record<string, Record<string, readonly string[]>>>)[table] ?? {};
  const columns = Object.entries(TABLES[table].columns as Record<string, string>).map(([name, kind]) => {
    const cells = rows.map(row => {
      const cell = (row as Record<string, Cell | undefined>)[camel(name)] ?? null;
      return typeof cell === 'string' && choices[name] !== undefined ? choices[name].indexOf(cell) : cell;
    });
    return [camel(name), kind.startsWith('text') ? cells : Float64Array.from(cells, cell => (cell === null ? (kind.includes('?') ? NaN : 0) : Number(cell)))];
  });
  return { first, n: rows.length, columns: Object.fromEntries(columns) as Section<T>['columns'] };
}

/** All tables without rows, but for these. */
export function sectionsOf(tables: Partial<Sections> = {}): Sections {
  const names = Object.keys(TABLES) as (keyof typeof TABLES)[];
  return { ...Object.fromEntries(names.map(name => [name, sectionOf(name)])), ...tables } as Sections;
}

export function smallBatch(batch: Partial<SmallBatch> = {}): Batch {
  const { epoch = 'r-1', seq = 0, nowS = 0, active = true, dropped = 0, groups = [], lanes = [], resources, held, tasks, metered } = batch;
  const state = { nowS, active, nDropped: dropped, nCores: resources?.nCores, limitBytes: resources?.limitBytes, cacheUnknown: held?.isUnknown };
  const tables = sectionsOf({
    state: sectionOf('state', [state]),
    groups: sectionOf('groups', groups, groups[0]?.id),
    lanes: sectionOf('lanes', lanes, lanes[0]?.id),
    runs: sectionOf('runs', batch.runs?.map(run => ({ ...run, metric: run.metric ?? held?.metrics?.get(run.run) ?? null }))),
    progress: sectionOf('progress', batch.progress),
    estimates: sectionOf('estimates', batch.estimates),
    stops: sectionOf('stops', batch.stops),
    running: sectionOf('running', batch.running),
    messages: sectionOf('messages', batch.remarks, seq === 0 ? 0 : 1),
    errors: sectionOf('errors', batch.errors?.map(text => ({ text }))),
    metrics: sectionOf('metrics', batch.seconds),
    ...(tasks && { tasks }), ...(metered && { metered }), ...(resources && { resources }), ...(held && { cache: held }),
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
    ...run
  };
}

export function smallProgress(row: Partial<PrefixProgress> = {}): PrefixProgress {
  return {
    run: 0, prefix: 'add', total: 10, finished: 0, erred: 0, running: 0, interrupted: 0, skipped: 0, again: 0, durationS: 0, firstS: null,
    scheduledS: null, asked: null, isAll: null, queued: null, waiting: null, noWorker: null,
    ...row
  };
}
