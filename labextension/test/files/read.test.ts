/** The files that Python reads, too; `python -m tests.support.files.cases` and `golden_files` write them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { DamagedFileError, readRecording } from '../../src/files/read';
import { storeOf } from '../../src/hosts/lab/documents/show';
import { type TaskStore, ALL_RUNS } from '../../src/store';
import { HEAD_BYTES } from '../../src/wire/frames';
import { batchBytes, frame, headerFrame, headerOf, joined } from '../wire/frames';
import { documentOf, documentStore } from './documents';

interface Cases {
  readonly refused: Readonly<Record<string, readonly [file: string, reason: string]>>;
}

const cases = JSON.parse(readFileSync(join(import.meta.dirname, '../cases/files.json'), 'utf8')) as Cases;
/** What a recording in Python cannot be without, and no view needs. */
const UNSEEN = new Set(['a key of no graph', 'a graph of no run']);

function tasksOf(store: TaskStore): object[] {
  return store.laneIds.flatMap(id => Array.from({ length: store.lane(id)?.n ?? 0 }, (_, i) => ({ lane: id, ...store.detail(id, i) })));
}

it('a whole file is shown as it was recorded', async () => {
  const store = await documentStore('v1-whole');
  expect(tasksOf(store)).toEqual([
    { lane: 0, key: "('inc-1', 0, 7)", group: 'inc-1', prefix: 'inc', run: 0, startS: 0, stopS: 1, cpuS: 0.5, sizeBytes: 8, status: 'finished', observedBy: 'worker', error: null },
    { lane: 0, key: "('add-1',)", group: 'add-1', prefix: 'add', run: 1, startS: 1, stopS: 1.5, cpuS: null, sizeBytes: null, status: 'finished', observedBy: 'scheduler', error: null },
    { lane: 1, key: '<b>ünï', group: 'b>ünï', prefix: 'b>ünï', run: 0, startS: 0, stopS: 0.5, cpuS: null, sizeBytes: 5e9, status: 'erred', observedBy: 'worker', error: 'ValueError: no' }
  ]);
  expect(store.tables.progressIn(ALL_RUNS).map(({ run, prefix, total, finished, erred }) => [run, prefix, total, finished, erred])).toEqual([
    [0, 'inc', 1, 1, 0], [0, 'b>ünï', 1, 0, 1], [1, 'add', 1, 1, 0]
  ]);
  expect([store.tables.remarks.map(({ text }) => text), store.resources.n, store.missing]).toEqual([['hello'], 2, 2]);
});

it('of a file whose process was killed, what it has is shown, and its computes end where it does', async () => {
  const { problem, metadata } = await readRecording(documentOf('v1-killed'));
  expect(problem).toMatch(/^this file is not complete: it ends before part \d+ is complete; what follows after that is missing$/);
  expect(metadata).toEqual({ label: 'killed', dt_s: 0.25 });
  const store = await documentStore('v1-killed');
  expect(tasksOf(store).length).toBe(4);
  expect(store.tables.running.map(({ keyText, startS }) => [keyText, startS])).toEqual([["('add-2', 0, 5)", 4]]);
  expect(store.tables.runsIn(ALL_RUNS).map(({ status, stopS }) => [status, stopS])).toEqual([['interrupted', 4.5]]);
  expect(store.tables.progressIn(ALL_RUNS).map(({ prefix, finished, running, interrupted }) => [prefix, finished, running, interrupted])).toContainEqual(['add', 0, 0, 1]);
});

describe('is refused', () => {
  it.each(Object.entries(cases.refused).filter(([why]) => !UNSEEN.has(why)))('%s', async (_, [file]) => {
    const read = readRecording(new Uint8Array(Buffer.from(file, 'base64'))).then(storeOf);
    await expect(read).rejects.toBeInstanceOf(DamagedFileError);
  });
});

/** Hundreds of files, on a machine that may be busy. */
const SLOW_MS = 120_000;

it('a file with a bit flipped anywhere is an error', async () => {
  const file = documentOf('v1-whole');
  for (let place = 0; place < file.length; place += 11) {
    file[place] = (file[place] ?? 0) ^ (1 << place % 8);
    await expect(readRecording(file).then(storeOf), `byte ${place}`).rejects.toBeInstanceOf(DamagedFileError);
    file[place] = (file[place] ?? 0) ^ (1 << place % 8);
  }
}, SLOW_MS);

it('what stands before damage is shown on request', async () => {
  const file = documentOf('v1-killed');
  file[file.length - 1] = (file.at(-1) ?? 0) ^ 1;
  await expect(readRecording(file)).rejects.toThrow(/cannot be read/);
  expect(storeOf(await readRecording(file, { partial: true })).nTasks).toBe(3);
});

const STATE = { columns: { now_s: [1_100_000_000], active: [0], final: [0], n_tasks: [0], n_dropped: [0], n_activities_dropped: [0], n_cores: [null], limit_bytes: [null], cache_unknown: [0] } };

function fileOf(...batches: readonly Parameters<typeof batchBytes>[0][]): Uint8Array {
  const header = headerFrame(headerOf({ started_at: '2026-01-02T03:04:05+00:00', zero_s: 100 }));
  return joined([header, ...batches.map((tables, i) => {
    const content = Uint8Array.from(batchBytes({ state: STATE, ...tables }));
    const packed = deflateSync(content);
    const isPacked = packed.length < content.length;
    return frame(isPacked ? packed : content, { kind: i + 1 === batches.length ? 2 : 1, number: i + 1, packed: Number(isPacked), unpacked: content.length });
  })]);
}

describe('a file in parts', () => {
  const key = { run: 0, group: 0, dims: 1, i0: 7, i1: 0, i2: 0, i3: 0, i4: 0, i5: 0, i6: 0, i7: 0, key_text: null };
  const task = { key: 1, lane: 0, status: 1, observed_by: 0, duration_s: 1e7, stop_s: 102e7, error: 0 };
  const columns = (...rows: readonly Record<string, number | string | null>[]): Record<string, (number | string | null)[]> =>
    Object.fromEntries(Object.keys(rows[0] ?? {}).map(name => [name, rows.map(row => row[name] ?? null)]));
  const parts: readonly Parameters<typeof batchBytes>[0][] = [
    { groups: { columns: { name: ['add-1'], prefix: ['add'] } }, lanes: { columns: { worker: ['main'], thread: [1], label: ['thread 1'] } } },
    { keys: { columns: columns({ ...key, dims: 255, key_text: 'a' }, key) }, errors: { columns: { text: ['E: 0'] } }, tasks: { columns: columns(task) } },
    { keys: { first: 2, columns: columns({ ...key, i0: 8 }) }, errors: { first: 1, columns: { text: ['E: 1'] } }, tasks: { first: 1, columns: columns({ ...task, key: 2, error: 1 }) } },
    { tasks: { first: 2, columns: columns({ ...task, key: 0 }) } }
  ];
  const [file, expected] = [fileOf(...parts), [["('add-1', 7)", 'E: 0'], ["('add-1', 8)", 'E: 1'], ['a', 'E: 0']]];
  const read = (store: TaskStore): unknown[] => tasksOf(store).map(row => [(row as { key: string }).key, (row as { error: string }).error]);

  it('has the keys and errors of earlier parts in later tasks', async () => {
    expect(read(storeOf(await readRecording(file)))).toEqual(expected);
  });

  it('shows every whole part, wherever it is cut, and says within which part it ends', async () => {
    const ends = parts.map((_, i) => fileOf(...parts.slice(0, i)).length);
    for (let length = 0; length < file.length; length += 1) {
      const nWhole = ends.filter(end => end <= length).length;
      const cut = readRecording(file.slice(0, length));
      if (nWhole === 0) {
        await expect(cut, `${length} bytes`).rejects.toBeInstanceOf(DamagedFileError);
        continue;
      }
      const place = length - (ends[nWhole - 1] ?? 0) < HEAD_BYTES ? `before part ${nWhole + 1} is complete` : `within part ${nWhole + 1}`;
      expect((await cut).problem).toBe(`this file is not complete: it ends ${place}; what follows after that is missing`);
      expect(read(storeOf(await cut)), `${length} bytes`).toEqual(expected.slice(0, Math.max(nWhole - 2, 0)));
    }
  });
});

it('makes no more of a file than its size justifies, or than is asked for', async () => {
  const file = fileOf({ errors: { columns: { text: new Array<string>(200_000).fill('') } } });
  await expect(readRecording(file, { maxBytes: 500 })).rejects.toThrow(/than its size justifies/);
});

it('takes numbers that are none for unknown, as Python writes them', async () => {
  const metadata = { columns: { text: ['{"label":"NaN \\"Infin', 'ity","x":[NaN,-Infinity]}'] } };
  expect((await readRecording(fileOf({ metadata }))).metadata).toEqual({ label: 'NaN "Infinity', x: [null, null] });
});
