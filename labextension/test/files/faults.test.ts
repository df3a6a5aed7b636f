import { describe, expect, it } from 'vitest';

import { DamagedFileError } from '../../src/files/read';
import { readRecording } from '../../src/files/recording';
import { TaskStore } from '../../src/store';
import type { Sections } from '../../src/wire';
import { tableRows } from '../../src/wire';
import { LIMITS } from '../../src/wire/tables';
import { type TableRows, described } from '../wire/frames';
import { END, type Written, batch, fileOf, header } from './container';
import { documentOf } from './documents';

/** The keys of a file's tasks in order, or why it cannot be read; whatever else is thrown fails the test. */
async function keysOrError(file: Uint8Array<ArrayBuffer>): Promise<readonly string[] | string> {
  try {
    const { batch } = await readRecording(file);
    const store = new TaskStore();
    store.append(batch);
    return Array.from(batch.tables.tasks.columns.group, (group, row) => store.keyText(row, group));
  } catch (error) {
    if (error instanceof DamagedFileError) {
      return error.message;
    }
    throw error;
  }
}

const startsOf = ({ tasks: { columns: { stopS, durationS } } }: Sections): number[] => Array.from(stopS, (timeS, i) => timeS - (durationS[i] as number));

/** Hundreds of files, on a machine that may be busy. */
const SLOW_MS = 120_000;

// Every byte and many more flips are looked at in Python; here it is whether both say the same.
it('a file cut off anywhere is a prefix of it, or an error', async () => {
  const file = documentOf('v1-killed');
  const all = await keysOrError(file);
  const found = new Set<number>();
  for (let length = 0; length < file.length; length += 7) {
    const keys = await keysOrError(file.slice(0, length));
    if (typeof keys !== 'string') {
      // What was in flight where the file ends stands behind what had ended.
      expect(all).toEqual(expect.arrayContaining([...keys]));
      found.add(keys.length);
    }
  }
  expect([...found]).toEqual([0, 3]);
}, SLOW_MS);

it('a file with a bit flipped anywhere is an error', async () => {
  const file = documentOf('v1-whole');
  for (let place = 0; place < file.length; place += 11) {
    file[place] = (file[place] ?? 0) ^ (1 << place % 8);
    expect(typeof await keysOrError(file), `byte ${place}`).toBe('string');
    file[place] = (file[place] ?? 0) ^ (1 << place % 8);
  }
}, SLOW_MS);

const LANE = { columns: { worker: ['main'], thread: [1], label: ['thread 1'] } };
const GROUP = { columns: { name: ['add-1'], prefix: ['add'], span: [null] } };
const RUN = { columns: { run: [0], label: [null], cell: [null], scheduler: ['threads'], n_workers: [1], n_tasks: [2], start_s: [1_000_000_000], stop_s: [null], status: [0], error: [null], execution_count: [null] } };
const GRAPH = { columns: { run: [0], start_s: [1_000_000_000], is_known: [1], is_valued: [0] } };

const zeros = (n: number): number[] => new Array<number>(n).fill(0);

function keyRows(first: number, n: number): TableRows[string] {
  const ints = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`i${i}`, i === 0 ? Array.from({ length: n }, (__, k) => first + k) : zeros(n)]));
  return { first, columns: { run: zeros(n), group: zeros(n), dims: zeros(n).fill(1), ...ints, key_text: new Array<null>(n).fill(null) } };
}

function taskRows(first: number, keys: number[], status = 0): TableRows[string] {
  const n = keys.length;
  return {
    first,
    columns: {
      key: keys, lane: zeros(n), status: zeros(n).fill(status), observed_by: zeros(n), duration_s: zeros(n).fill(10_000_000),
      stop_s: keys.map(key => 1_010_000_000 + 10_000_000 * key), cpu_s: zeros(n).fill(1), nbytes: zeros(n).fill(8), error: new Array<null>(n).fill(null)
    }
  };
}

const HALF = batch({ lanes: LANE, groups: GROUP, runs: RUN, graphs: GRAPH, keys: keyRows(0, 2), tasks: taskRows(0, [0]), running: { columns: { key: [1], lane: [0], observed_by: [1], start_s: [1_015_000_000] } } });
const GROWS = header({ grows: true });

it('shows what stands before damage where that is asked for, and says so', async () => {
  const file = fileOf([GROWS, HALF, batch({ tasks: taskRows(1, [1]) }), END]);
  file[file.length - 1] = (file.at(-1) ?? 0) ^ 1;
  await expect(readRecording(file)).rejects.toThrow(/^part 4 is damaged$/);
  const { batch: { tables }, problem } = await readRecording(file, { partial: true });
  expect(startsOf(tables)).toEqual([0, 1]);
  expect(problem).toBe('this file is not complete: part 4 is damaged; what follows after that is missing');
  expect(tableRows(tables, 'messages')).toEqual([{ timeS: 10, level: 'warning', text: problem, worker: null, event: null }]);
});

it('shows what was in flight where a file ends as interrupted then', async () => {
  const { batch: { tables }, problem, links } = await readRecording(fileOf([GROWS, HALF, END]).slice(0, -1));
  const { columns: tasks } = tables.tasks;
  const [runs, progress, running] = [tableRows(tables, 'runs'), tableRows(tables, 'progress'), tableRows(tables, 'running')];
  expect(problem).toBe('this file is not complete: it ends within part 3; what follows after that is missing');
  expect([startsOf(tables), [...tasks.stopS], [...tasks.status], [...tasks.observedBy], [...tasks.cpuS]]).toEqual([[0, 1.5], [1, 10], [0, 2], [0, 1], [1e-7, NaN]]);
  expect([runs[0]?.status, runs[0]?.stopS, running]).toEqual(['interrupted', 10, []]);
  expect(progress.map(({ prefix, total, finished, interrupted }) => [prefix, total, finished, interrupted])).toEqual([['add', 2, 1, 1]]);
  expect(links()(1)).toEqual({ dependencies: [], nDependencies: 0, dependents: [], nDependents: 0 });
});

it('leaves out of what was in flight what has ended since', async () => {
  const file = fileOf([GROWS, HALF, batch({ tasks: taskRows(1, [1]), running: { columns: { key: [1], lane: [0], observed_by: [0], start_s: [1_015_000_000] } } })]);
  const { batch: { tables: { tasks: { columns: tasks } } }, problem } = await readRecording(file);
  expect([[...tasks.stopS], [...tasks.status]]).toEqual([[1, 2], [0, 0]]);
  expect(problem).toBe('this file is not complete: it ends before part 4 is complete; what follows after that is missing');
});

it('gives tasks the CPU time that was told later than they, each row of one that ran again its own', async () => {
  const metered = { columns: { key: [1, 0, 0], start_s: [1_010_000_000, 1_001_000_000, 1_000_000_000], cpu_s: [5_000_000, 20_000_000, 2_500_000], cpu_from: [1, 0, 0] } };
  const again = { ...taskRows(1, [1, 0]), columns: { ...taskRows(1, [1, 0]).columns, stop_s: [1_020_000_000, 1_011_000_000] } };
  const { batch: { tables } } = await readRecording(fileOf([GROWS, HALF, batch({ tasks: again }), batch({ metered }), END]));
  const closeTo = (values: number[]): number[] => values.map(value => expect.closeTo(value, 6) as number);
  expect([startsOf(tables), [...tables.tasks.columns.cpuS], [...tables.tasks.columns.cpuFrom]]).toEqual([closeTo([0, 1, 0.1]), closeTo([0.25, 0.5, 1]), [0, 1, 0]]);
});

it('names what is unknown of a file that ends early', async () => {
  const said = async (file: Uint8Array): Promise<string | null> => (await readRecording(file)).problem;
  const known = 'this file is not complete: it ends before part 3 is complete; what follows after that is missing';
  const rest = 'activities, resources, stacks, steals, transfers, workers';
  const part = { ...GRAPH, columns: { ...GRAPH.columns, is_known: [0] } };
  expect(await said(fileOf([header(), HALF]))).toBe(`${known}; unknown in part or whole: ${rest}`);
  expect(await said(fileOf([GROWS, batch({ runs: RUN, graphs: part })]))).toBe(`${known}; unknown in part or whole: cache, dependencies`);
  expect(await said(fileOf([GROWS, batch({ runs: RUN })]))).toBe(`${known}; unknown in part or whole: cache, dependencies`);
  expect(await said(fileOf([GROWS, batch({ unknown: { columns: { name: ['stacks'] } } })]))).toBe(`${known}; unknown in part or whole: stacks`);
  expect(await said(fileOf([GROWS, HALF, END]))).toBeNull();
});

describe('says what is wrong with', () => {
  const bomb: Written = { kind: 1, content: new Uint8Array(17 * 2 ** 20) };
  const tables = { lanes: LANE, groups: GROUP, runs: RUN, graphs: GRAPH, keys: keyRows(0, 2) };
  const made = (more: TableRows, said?: Record<string, unknown>): Uint8Array<ArrayBuffer> => fileOf([header(said), batch({ ...tables, ...more }), END]);
  const changed = (rows: TableRows[string] | undefined, columns: Record<string, (number | string | null)[]>): TableRows[string] => ({ ...rows, columns: { ...rows?.columns, ...columns } });
  const cases: [string, Uint8Array<ArrayBuffer>, RegExp][] = [
    ['an empty file', new Uint8Array(), /^it is not a recording of taskscope$/],
    ['a file of another tool', new TextEncoder().encode('<!DOCTYPE html>'), /^it is not a recording/],
    ['a newer file', fileOf([{ ...header(), version: 2 }, END]), /^it has version 2 of the format and this taskscope reads 1; a newer taskscope may read it$/],
    ['a newer header', fileOf([header({ format: 2 }), END]), /header\.format must be 1; a newer taskscope may read it, got 2$/],
    ['a frame that claims too much', fileOf([header(), bomb, END]), new RegExp(`^part 2 claims 17,825,792 bytes, of at most ${LIMITS.frame.toLocaleString('en')}$`)],
    ['a frame that holds more than it claims', fileOf([header(), { ...bomb, unpacked: 100_000 }, END]), /^part 2 does not unpack to the 100,000 bytes it claims$/],
    ['a frame that holds less than it claims', fileOf([header(), batch(), { kind: 2, content: new Uint8Array(5000), unpacked: 6000 }]), /^part 3 does not unpack to the 6,000 bytes it claims$/],
    ['something after the end', new Uint8Array([...fileOf([header(), END]), 0]), /^there is something after its end$/],
    ['no header', fileOf([END]), /^part 1 is out of place$/],
    ['a header that comes twice', fileOf([header(), header()]), /^part 2 is out of place$/],
    ['a frame of another file', fileOf([header(), { ...END, stream: 8 }]), /^part 2 is out of place$/],
    ['a frame missing', fileOf([header(), { ...END, number: 2 }]), /^part 2 is out of place$/],
    ['no JSON', fileOf([{ kind: 0, content: Buffer.from('{') }, END]), /must be a header in JSON/],
    ['a date without a zone', made({}, { started_at: '2026-01-02T03:04:05' }), /^it does not say when it was recorded: 2026-01-02T03:04:05$/],
    ['rows that are missing', made({ keys: keyRows(1, 2) }), /^it contradicts itself: rows of keys follow each other$/],
    ['a key of no graph', made({ graphs: { columns: {} } }), /a key is of a graph$/],
    ['a graph of no run', made({ runs: { columns: {} } }), /a graph belongs to a run$/],
    ['a run that cannot be', made({ runs: changed(RUN, { run: [-1] }), graphs: changed(GRAPH, { run: [-1] }), keys: changed(keyRows(0, 1), { run: [-1] }) }), /the number of a run must be possible$/],
    ['a key of too many integers', made({ keys: changed(keyRows(0, 1), { dims: [9] }) }), /at most 8 integers, or is text$/],
    ['a key that has no text', made({ keys: changed(keyRows(0, 1), { dims: [255] }) }), /a key that is text has one$/],
    ['an integer that cannot be', made({ keys: changed(keyRows(0, 1), { i3: [2 ** 31] }) }), /an integer of a key must be possible$/],
    ['a task of no key', made({ tasks: taskRows(0, [2]) }), /tasks\.key\[0\] must be from 0 to less than 2, got 2$/],
    ['a level nobody knows', made({ messages: { columns: { time_s: [0], level: [7], text: ['x'], worker: [null], event: [null] } } }), /messages\.level\[0\] must be from 0 to less than 2/],
    ['a time beyond all time', made({ tasks: changed(taskRows(0, [0]), { stop_s: [2e10] }) }, { tick_s: 1 }), /tasks\.stop_s\[0\] must be from/],
    ['a key that needs one of another graph', made({ runs: changed(RUN, Object.fromEntries(Object.entries(RUN.columns).map(([name, [value]]) => [name, name === 'run' ? [0, 1] : [value ?? null, value ?? null]]))), graphs: { columns: { run: [0, 1], start_s: [0, 0], is_known: [1, 1], is_valued: [0, 0] } }, keys: changed(keyRows(0, 2), { run: [0, 1] }), dependencies: { columns: { key: [0], dependency: [1] } } }), /a key needs those of its own graph$/],
    ['what was held of no run', made({ holdings: { columns: { run: [3], group: [0], time_s: [0], n_keys: [1], nbytes: [1], n_unsized: [0] } } }), /cache usage is of a run$/],
    ['a sample of no worker', made({ worker_samples: { columns: { time_s: [0], worker: [3], n_threads: [1], n_executing: [null], cpu_percent: [null], rss_bytes: [null], managed_bytes: [null], spilled_bytes: [null], limit_bytes: [null], tick_s: [null], gil_contention: [null], net_read_bps: [null], net_write_bps: [null], disk_read_bps: [null], disk_write_bps: [null], n_fds: [null], gpu_percent: [null], gpu_bytes: [null], unmanaged_bytes: [null] } } }), /the worker of a sample must be known$/],
    ['bytes of no activity', made({ completed: { columns: { row: [0], nbytes: [1] } } }), /bytes are of an activity$/],
    ['metadata that are no JSON', made({ metadata: { columns: { text: ['{"a":'] } } }), /^its metadata are no JSON/],
    ['metadata that are no object', made({ metadata: { columns: { text: ['[1]'] } } }), /metadata must be an object$/]
  ];
  it.each(cases)('%s', async (_, file, message) => {
    await expect(readRecording(file)).rejects.toThrow(message);
    await expect(readRecording(file)).rejects.toBeInstanceOf(DamagedFileError);
  });
});

it('leaves out tables and columns that it does not know', async () => {
  const { metadata: told, state } = { metadata: ['metadata', 0, 1, [['text', 'one', '{"label":"known"}']]], state: ['state', 0, 1, [['active', 'one', 0], ['final', 'one', 0], ['n_tasks', 'one', 0], ['n_dropped', 'one', 0], ['n_activities_dropped', 'one', 0], ['cache_unknown', 'one', 0]]] };
  const content = Uint8Array.from(described([['constructor', 0, 1, [['toString', 'u1', 0]]], state, told], [5]));
  const { metadata, problem } = await readRecording(fileOf([header(), { kind: 2, content }]));
  expect([metadata, problem]).toEqual([{ label: 'known' }, null]);
});

it('makes no more of a file than its size justifies, or than is asked for', async () => {
  const texts = batch({ errors: { columns: { text: new Array<string>(200_000).fill('') } } });
  const frames = [header(), texts, ...Array.from({ length: 8 }, (_, i) => batch({ errors: { first: 200_000 * (i + 1), columns: { text: new Array<string>(200_000).fill('') } } })), END];
  await expect(readRecording(fileOf(frames))).rejects.toThrow(/^it unpacks to more than it may$/);
  await expect(readRecording(fileOf([header(), HALF, END]), { maxBytes: 500 })).rejects.toThrow(/^it unpacks to more than it may$/);
});

it('takes numbers that are none for unknown, as Python writes them', async () => {
  const metadata = { columns: { text: ['{"label":"NaN \\"Infin', 'ity","x":[NaN,-Infinity]}'] } };
  expect((await readRecording(fileOf([header(), batch({ metadata }, 2)]))).metadata).toEqual({ label: 'NaN "Infinity', x: [null, null] });
});
