/** What a file says as the one message of the feed that a live view of the recording would have got. */
import type { Batch, PrefixProgress, RunningTask } from '../wire';
import { isOnCluster } from '../wire';
import type { Columns, Numbers, Row, Section, Sections, TableName } from '../wire/codec';
import { rowsOf } from '../wire/codec';
import { heldRows } from './held';
import type { Keys, TaskColumns } from './keys';
import { RUNNING } from './keys';
import type { FileSchema } from './read';
import { at, demand, joined, picked, placesWhere } from './read';

/** The epoch of such a message. */
export const EPOCH = 'file-0';
const LAST_LANE = 8191;
const LAST_GROUP = 65_535;
/** The numbers of workers and of sources are below it. */
const UNKNOWN_CODE = 65_535;
const MAX_ERRORS = 1_000;

export interface Read {
  readonly tables: Sections<FileSchema>;
  readonly keys: Keys;
  readonly runs: Section<'runs'>;
  readonly messages: Section<'messages'>;
  /** All tasks, and those that reached an end. */
  readonly tasks: TaskColumns;
  readonly ended: TaskColumns;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly nowS: number;
  /** Whether it is not known of some compute what was held. */
  readonly isUnknown: boolean;
}

/** Return the message; its row `i` is row `i` of `ended`. Groups and lanes are numbered from 0, those that something is of. */
export function batchOfFile(read: Read): Batch {
  const { tables, keys, tasks, ended, nowS } = read;
  const held = heldOf(read);
  const activities = activitiesOf(read);
  const progress = keys.progress();
  const used = idsIn([held.group, at(keys.columns.group, tasks.key), activities.group]);
  const groups = new Compact([...used, ...groupsOfOthers(tables.groups.columns.prefix, used, progress)], LAST_GROUP);
  const lanes = new Compact(idsIn([tasks.lane, activities.lane]), LAST_LANE);
  const numbered = <C extends { readonly lane: Numbers; readonly group: Numbers }>(columns: C): C =>
    ({ ...columns, lane: lanes.of(columns.lane), group: groups.of(columns.group) });
  const { key, ...columns } = ended;
  const { errors, error } = errorsOf(tables.errors.columns.text, ended);
  const whole = (name: string): Float64Array => Float64Array.of(wholeOf(read.metadata[name]));
  const nActivitiesDropped = tables.state.columns.nActivitiesDropped;
  const sections = {
    ...NOTHING,
    state: section<'state'>({
      nowS: Float64Array.of(nowS), active: Int32Array.of(0), final: Int32Array.of(1), nTasks: Int32Array.of(key.length),
      nDropped: Int32Array.of(0), nActivitiesDropped, nCores: whole('n_cores'), limitBytes: whole('memory_limit_bytes'),
      cacheUnknown: Int32Array.of(Number(read.isUnknown))
    }),
    groups: section<'groups'>(picked(tables.groups.columns, groups.ids)),
    lanes: section<'lanes'>(picked(tables.lanes.columns, lanes.ids)),
    runs: withMetric(read, held.run),
    messages: read.messages,
    errors: section<'errors'>({ text: errors }),
    tasks: section<'tasks'>(numbered({ ...ofKeys(keys, key), ...columns, error })),
    cache: section<'cache'>({ ...held, group: groups.of(held.group) }),
    resources: section<'resources'>(resourcesOf(tables)),
    sources: section<'sources'>({ text: tables.sources.columns.text.slice(0, UNKNOWN_CODE) }),
    activities: { ...section<'activities'>(numbered(activities)), first: nActivitiesDropped[0] ?? 0 },
    ...workersOf(tables),
    metrics: section<'metrics'>(metricsOf(tables))
  };
  const inFlight = picked(tasks, placesWhere(tasks.status, status => status === RUNNING));
  const running = runningOf(keys, numbered({ ...inFlight, ...ofKeys(keys, inFlight.key) }));
  return {
    recorder: 'file', epoch: EPOCH, seq: 0,
    tables: { ...sections, progress: sectionOf<'progress'>(progress), running: sectionOf<'running'>(running) }
  };
}

/** A section of these rows. */
function sectionOf<T extends TableName>(rows: readonly Row<T>[]): Section<T> {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row<T>)[];
  const columns = names.map(name => {
    const values = rows.map(row => row[name]);
    return [name, typeof values[0] === 'string' ? values : Float64Array.from(values, value => (value as number | null) ?? NaN)];
  });
  return { first: 0, n: rows.length, columns: Object.fromEntries(columns) as Columns<T> };
}

function section<T extends TableName>(columns: Columns<T>): Section<T> {
  return { first: 0, n: Object.values<ArrayLike<unknown>>(columns)[0]?.length ?? 0, columns };
}

const NONE = { first: 0, n: 0, columns: {} as never };
const NOTHING = {
  metered: section<'metered'>({ row: new Int32Array(), cpuS: new Float64Array(), cpuFrom: new Int32Array() }), progress: NONE, estimates: NONE, stops: NONE, running: NONE, completed: section<'completed'>({ row: new Int32Array(), nbytes: new Int32Array() })
};

/** Numbers the rows of a table that something is of from 0, in their order; those beyond `last` are one. */
class Compact {
  readonly ids: number[];
  readonly #numbers: ReadonlyMap<number, number>;

  constructor(used: Iterable<number>, private readonly last: number) {
    const ids = [...used].sort((a, b) => a - b);
    this.#numbers = new Map(ids.map((id, number) => [id, number]));
    this.ids = ids.slice(0, last + 1);
  }

  of(column: Numbers): Int32Array {
    const found = new Int32Array(column.length);
    for (let i = 0; i < column.length; i += 1) {
      found[i] = Math.min(this.#numbers.get(column[i] as number) ?? 0, this.last);
    }
    return found;
  }
}

function idsIn(columns: readonly Numbers[]): Set<number> {
  const ids = new Set<number>();
  columns.forEach(column => {
    column.forEach((id: number) => ids.add(id));
  });
  return ids;
}

/** A group of each prefix that is in no other table: its tasks never ran, but it has a colour. */
function groupsOfOthers(prefixes: readonly string[], used: ReadonlySet<number>, progress: readonly PrefixProgress[]): number[] {
  const known = new Set(Array.from(used, id => prefixes[id]));
  const missing = new Set(progress.map(({ prefix }) => prefix).filter(prefix => !known.has(prefix)));
  return [...missing].map(prefix => prefixes.indexOf(prefix)).filter(id => id >= 0);
}

/** What is known of these keys. */
function ofKeys({ columns }: Keys, keys: Numbers): Keys['columns'] {
  return picked(columns, keys);
}

/** What was held in this process, and what workers of a cluster were seen to hold. */
function heldOf({ tables: { holdings }, keys, runs, nowS }: Read): Columns<'cache'> {
  const all = rowsOf(runs);
  const { n, columns: seen } = holdings;
  demand([seen.nKeys, seen.nbytes, seen.nUnsized].every(column => column.every((count: number) => count >= 0)), 'what was held is counted');
  const known = new Set(all.map(({ run }) => run));
  demand(seen.run.every((run: number) => known.has(run)), 'cache usage is of a run');
  const longestS = all.reduce((longest, { startS, stopS }) => Math.max(longest, (stopS ?? nowS) - (startS ?? 0)), 0);
  const here = heldRows(keys, all.filter(run => !isOnCluster(run)), nowS, longestS);
  const rows = Object.fromEntries(Object.entries<number[]>({ ...here }).map(([name, values]) => [name, Float64Array.from(values)])) as unknown as Columns<'cache'>;
  const none = { value: new Float64Array(n).fill(keys.valuedRuns.size === 0 ? NaN : 0), nUnvalued: seen.nKeys };
  return joined([keys.valuedRuns.size === 0 ? { ...rows, value: rows.value.fill(NaN) } : rows, { ...seen, ...none }]);
}

/** Runs, with what the user calls what is held, where some of it is. */
function withMetric({ runs, keys, metadata }: Read, held: Numbers): Section<'runs'> {
  const name = typeof metadata.metric === 'string' ? metadata.metric : 'metric';
  const has = new Set(Array.from(held).filter(run => keys.valuedRuns.has(run)));
  return { ...runs, columns: { ...runs.columns, metric: Array.from(runs.columns.run, run => (has.has(run) ? name : null)) } };
}

/** By their start, the longest of one moment first, with what became known of them. */
function activitiesOf({ tables, keys }: Read): Columns<'activities'> {
  const { completed, activities: { columns: { key, ...columns } } } = tables;
  const nbytes = Float64Array.from(columns.nbytes);
  completed.columns.row.forEach((row: number, i: number) => {
    demand(row >= 0 && row < nbytes.length, 'bytes are of an activity');
    nbytes[row] = completed.columns.nbytes[i] as number;
  });
  const { startS, durationS } = columns;
  const order = Uint32Array.from(startS.keys());
  order.sort((a, b) => (startS[a] as number) - (startS[b] as number) || (durationS[b] as number) - (durationS[a] as number) || a - b);
  const { run, group } = ofKeys(keys, key);
  const source = columns.source.map((place: number) => Math.min(place, UNKNOWN_CODE));
  return picked({ run, group, ...columns, source, nbytes }, order);
}

/** The different texts of errors, and the place of that of each task that did not finish. */
function errorsOf(texts: readonly string[], { status, error }: TaskColumns): { errors: string[]; error: Float64Array } {
  const places = new Map<string, number>();
  const codes = new Float64Array(error.length).fill(NaN);
  error.forEach((row: number, i: number) => {
    const text = status[i] === 0 ? undefined : texts[row];
    if (text !== undefined) {
      const shown = places.has(text) || places.size < MAX_ERRORS ? text : `(more than ${MAX_ERRORS.toLocaleString('en')} different errors)`;
      const place = places.get(shown) ?? places.size;
      places.set(shown, place);
      codes[i] = place;
    }
  });
  return { errors: [...places.keys()], error: codes };
}

function resourcesOf({ resources: { columns } }: Sections<FileSchema>): Columns<'resources'> {
  return { ...columns, nProcesses: columns.nProcesses.map((n: number) => Math.min(n, 65_535)) };
}

function workersOf({ workers, worker_samples: samples }: Sections<FileSchema>): Pick<Sections, 'workers' | 'worker_samples'> {
  const known = new Set(workers.columns.worker);
  demand([...known].every(worker => worker >= 0 && worker < UNKNOWN_CODE), 'the number of a worker must be possible');
  demand(samples.columns.worker.every((worker: number) => known.has(worker)), 'the worker of a sample must be known');
  return { workers, worker_samples: samples };
}

/** The sums of all workers together. */
function metricsOf({ metrics }: Sections<FileSchema>): Columns<'metrics'> {
  const sums = new Map<string, { run: number; prefix: string; activity: string; seconds: number }>();
  for (const { run, prefix, activity, seconds } of rowsOf(metrics)) {
    const name = JSON.stringify([run, prefix, activity]);
    sums.set(name, { run, prefix, activity, seconds: (sums.get(name)?.seconds ?? 0) + seconds });
  }
  const rows = [...sums.values()];
  return {
    run: Int32Array.from(rows, ({ run }) => run), prefix: rows.map(({ prefix }) => prefix),
    activity: rows.map(({ activity }) => activity), seconds: Float64Array.from(rows, ({ seconds }) => seconds)
  };
}

function runningOf(keys: Keys, { key, run, lane, group, stopS, durationS }: TaskColumns & Keys['columns']): RunningTask[] {
  return Array.from(key, (each, i) => ({
    run: run[i] as number, lane: lane[i] as number, group: group[i] as number, keyText: keys.text(each),
    startS: (stopS[i] as number) - (durationS[i] as number)
  }));
}

function wholeOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : NaN;
}
