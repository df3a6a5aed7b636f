/** A saved recording, read in the browser, as the one message of the feed that a live view of it would have got. */
import type { Batch, LinkRows } from '../wire';
import { RUN_STATUSES, isOnCluster } from '../wire';
import type { Numbers, Section, Sections } from '../wire/codec';
import { rowsOf } from '../wire/codec';
import { batchOfFile } from './batch';
import type { TaskColumns } from './keys';
import { INTERRUPTED, Keys, RUNNING } from './keys';
import type { FileSchema, FileTables, ReadOptions } from './read';
import { DamagedFileError, demand, inFile, joined, picked, placesWhere, readTables } from './read';

type Tables = Sections<FileSchema>;

export interface FileRecording {
  /** ISO 8601, with a time zone. */
  readonly startedAt: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Why this is not all; null: it is. It is the last of the remarks, too. */
  readonly problem: string | null;
  /** Everything there is to show; its row `i` is row `i` of `links`. */
  readonly batch: Batch;
  /** What tells the neighbours of a row. */
  readonly links: () => (row: number) => LinkRows | null;
}

/**
 * Return the recording in a file.
 *
 * A file that ends early is no error: what it holds is returned, with a `problem` that says so. With `partial` so
 * is what stands before the damage of a damaged file.
 *
 * Rejects with a DamagedFileError otherwise.
 */
export async function readRecording(file: Uint8Array, options: ReadOptions = {}): Promise<FileRecording> {
  const read = await readTables(file, options);
  return inFile(() => recordingOf(read));
}

function recordingOf({ said, tables: told, problem }: FileTables): FileRecording {
  const tables = { ...told, tasks: { ...told.tasks, columns: withCpu(told) } };
  const startedAt = said.at('started_at').text();
  const isTime = /(?:Z|[+-]\d\d:\d\d)$/.test(startedAt) && !Number.isNaN(Date.parse(startedAt));
  if (!isTime) {
    throw new DamagedFileError(`it does not say when it was recorded: ${startedAt}`);
  }
  const [state] = rowsOf<'state', FileSchema>(tables.state);
  // What has ended after the last look at what was in flight ended later than that.
  const nowS = Math.max(state?.nowS ?? 0, ...(problem === null ? [] : [latest(tables.tasks.columns.stopS)]));
  const grew = said.at('grows').flag();
  const runs = runsOf(tables, problem !== null && grew ? nowS : null);
  const tasks = problem === null ? tables.tasks.columns : withInterrupted(tables, nowS);
  const keys = new Keys(tables, tasks);
  demand([...keys.graphs.keys()].every(run => runs.columns.run.includes(run)), 'a graph belongs to a run');
  const unknown = [...tables.unknown.columns.name, ...(problem === null ? [] : missing(tables, keys, grew))];
  const text = problem === null ? null : cutOffText(problem, [...new Set(unknown)].sort());
  const ended = picked(tasks, placesWhere(tasks.status, status => status !== RUNNING));
  const metadata = metadataOf(tables);
  const messages = withWarning(tables, nowS, text);
  const batch = batchOfFile({ tables, keys, runs, messages, tasks, ended, metadata, nowS, isUnknown: unknown.includes('cache') });
  return { startedAt, metadata, problem: text, batch, links: () => keys.links(ended.key) };
}

function latest(timesS: Numbers): number {
  return Array.from(timesS).reduce((last, timeS) => Math.max(last, timeS), -Infinity);
}

/** The runs as a page is told of them; those that go on were cut off at `stopS`, null: go on. */
function runsOf({ runs: { n, columns } }: Tables, stopS: number | null): Section<'runs'> {
  demand(columns.run.every((run: number) => run >= 0 && run < 2 ** 31), 'the number of a run must be possible');
  const none = new Array<null>(n).fill(null);
  const [running, interrupted] = [RUN_STATUSES.indexOf('running'), RUN_STATUSES.indexOf('interrupted')];
  const isCut = (i: number): boolean => stopS !== null && columns.status[i] === running;
  return {
    first: 0,
    n,
    columns: {
      ...columns,
      sourceCrc: new Float64Array(n).fill(NaN),
      metric: none,
      stopS: Float64Array.from(columns.stopS, (timeS, i) => (isCut(i) ? (stopS ?? NaN) : timeS)),
      status: Int32Array.from(columns.status, (status, i) => (isCut(i) ? interrupted : status))
    }
  };
}

/** The tasks, with the CPU time that was told later than they. */
function withCpu({ tasks: { columns }, metered }: Tables): TaskColumns {
  if (metered.n === 0) {
    return columns;
  }
  const late = metered.columns;
  const rows = new Map<number, number[]>(Array.from(late.key, key => [key, []]));
  columns.key.forEach((key: number, row: number) => {
    rows.get(key)?.push(row);
  });
  const [cpuS, cpuFrom] = [Float64Array.from(columns.cpuS), Int32Array.from(columns.cpuFrom)];
  const farFrom = (startS: number, row: number): number => Math.abs((columns.stopS[row] as number) - (columns.durationS[row] as number) - startS);
  late.key.forEach((key: number, i: number) => {
    // A task that ran again has several rows; of a killed process, one may have none.
    const [row] = (rows.get(key) ?? []).sort((a, b) => farFrom(late.startS[i] as number, a) - farFrom(late.startS[i] as number, b));
    demand((late.cpuS[i] as number) >= 0, 'CPU time is not negative');
    if (row !== undefined) {
      cpuS[row] = Math.min(late.cpuS[i] as number, columns.durationS[row] as number);
      cpuFrom[row] = late.cpuFrom[i] as number;
    }
  });
  return { ...columns, cpuS, cpuFrom };
}

/** The tasks, and those that were in flight as interrupted at `nowS`, but those that have ended since. */
function withInterrupted({ tasks, running }: Tables, nowS: number): TaskColumns {
  const ended = new Set(tasks.columns.key);
  const { key, lane, observedBy, startS } = picked(running.columns, placesWhere(running.columns.key, each => !ended.has(each)));
  const n = key.length;
  const unknown = new Float64Array(n).fill(NaN);
  const cut: TaskColumns = {
    // There is no such row: numbers are 0, and so the first of what a column may say.
    ...picked(tasks.columns, new Uint32Array(n).fill(tasks.n)),
    key, lane, observedBy,
    status: new Int32Array(n).fill(INTERRUPTED),
    durationS: Float64Array.from(startS, timeS => Math.max(nowS - timeS, 0)),
    stopS: Float64Array.from(startS, timeS => Math.max(nowS, timeS)),
    cpuS: unknown, nbytes: unknown, error: unknown
  };
  return joined([tasks.columns, cut]);
}

/** The names of tables that would not be as they are if the file were complete. */
function missing(tables: Tables, { graphs }: Keys, grew: boolean): string[] {
  const runs = rowsOf<'runs', FileSchema>(tables.runs);
  const isLacking = runs.some(({ run, nTasks }) => nTasks > 0 && !graphs.has(run));
  // A compute may not have counted its tasks when its first keys are written.
  const names = isLacking || [...graphs.values()].some(({ isKnown }) => isKnown === 0) ? ['cache', 'dependencies'] : [];
  const rows = {
    stacks: tables.stacks.n + tables.open_stacks.n,
    activities: tables.activities.n,
    transfers: tables.transfers.n,
    steals: tables.steals.n,
    workers: tables.worker_samples.n,
    resources: tables.resources.n
  };
  const onCluster = runs.some(isOnCluster);
  // They are written last.
  const last = onCluster && tables.metrics.n === 0 ? ['metrics'] : [];
  if (!grew) {
    return [...names, ...Object.entries(rows).filter(([, n]) => n === 0).map(([name]) => name), ...last];
  }
  // A cluster's scheduler is asked for them when the block ends.
  return rows.stacks === 0 && onCluster ? [...names, 'stacks', ...last] : [...names, ...last];
}

function cutOffText(problem: string, unknown: readonly string[]): string {
  const text = `this file is not complete: ${problem}; what follows after that is missing`;
  return unknown.length === 0 ? text : `${text}; unknown in part or whole: ${unknown.join(', ')}`;
}

/** The messages, and this one; null: no more. */
function withWarning({ messages: { n, columns } }: Tables, nowS: number, text: string | null): Section<'messages'> {
  const last = text === null ? [] : [{
    timeS: Float64Array.of(nowS), level: Int32Array.of(1), text: [text], worker: [null], event: Float64Array.of(NaN)
  }];
  return { first: 0, n: n + last.length, columns: joined([columns, ...last]) };
}

/** Python writes numbers that are none where it may; strings are matched only to be left alone. */
const NOT_JSON = /"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|Infinity)\b)/g;

function metadataOf({ metadata }: Tables): Readonly<Record<string, unknown>> {
  const text = metadata.n === 0 ? '{}' : metadata.columns.text.join('');
  let value: unknown = null;
  try {
    value = JSON.parse(text.replace(NOT_JSON, (found, constant: string | undefined) => (constant === undefined ? found : 'null')));
  } catch (error) {
    throw new DamagedFileError(`its metadata are no JSON: ${String(error)}`);
  }
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), 'metadata must be an object');
  return value as Record<string, unknown>;
}
