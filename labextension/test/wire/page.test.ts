/** What a page is told, message by message. */
import { describe, expect, it } from 'vitest';

import { type Batch, PageStream, WireError, pythonRepr, tableRows, tupleKey } from '../../src/wire';
import type { TableName } from '../../src/wire/codec';
import { sectionsOf, smallProgress, smallRun } from '../charts/small-batch';
import { described, frame, headerFrame, joined } from './frames';
import { type FixtureBatch, type FixtureRow, RUN, TABLES, wireMessage } from './wire-fixture';

const ROWS: FixtureRow[] = [
  { lane: 1, status: 1, stopUs: 2_000_000, durationS: 0.5, cpuS: 0.5, nbytes: 1, key: [3, -4], error: 'ValueError: no' },
  { lane: 0, status: 3, scheduler: true, group: 1, key: 'é' },
  { durationS: 1, stopUs: 1_000_000, cpuS: 2, nbytes: 2 ** 40 }
];

function read(rows: FixtureRow[], batch: FixtureBatch = {}): Batch {
  const { message, buffers } = wireMessage(rows, batch);
  const [found] = new PageStream().take(message, buffers) ?? [];
  if (found === undefined) {
    throw new Error('no batch');
  }
  return found;
}

/** The same with columns as lists. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    return [...(value as Float64Array)];
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
    : value;
}

it('a message becomes its tables, whole and converted', () => {
  const { recorder, epoch, seq, tables } = read(ROWS);
  expect([recorder, epoch, seq]).toEqual(['rec', 'rec-1', 0]);
  const { state, tasks, errors, ...others } = plain(tables) as Record<string, unknown>;
  expect([state, tasks, errors]).toEqual([
    { first: 0, n: 1, columns: { nowS: [10], active: [1], final: [0], nTasks: [3], nDropped: [0], nActivitiesDropped: [0], nCores: [NaN], limitBytes: [NaN], cacheUnknown: [0] } },
    {
      first: 0, n: 3,
      columns: {
        key: [0, 1, 2], run: [0, 0, 0], lane: [1, 0, 0], group: [0, 1, 0], status: [1, 3, 0], observedBy: [0, 1, 0], durationS: [0.5, 0, 1], stopS: [3, 1, 2],
        cpuS: [0.5, NaN, 2], nbytes: [1, NaN, 2 ** 40], error: [0, NaN, NaN],
        dims: [2, 255, 0], i0: [3, 0, 0], i1: [-4, 0, 0], ...Object.fromEntries([2, 3, 4, 5, 6, 7].map(i => [`i${i}`, [0, 0, 0]])), keyText: [null, 'é', null]
      }
    },
    { first: 0, n: 1, columns: { text: ['ValueError: no'] } }
  ]);
  const given = Object.entries(others).flatMap(([name, section]) => ((section as { n: number }).n > 0 && name !== 'keys' ? [name] : []));
  expect(Object.fromEntries(given.map(name => [name, tableRows(tables, name as TableName)]))).toEqual({
    groups: [{ name: 'sum-1a', prefix: 'sum', colour: null, function: null }, { name: "it's", prefix: "it's", colour: null, function: null }],
    lanes: [{ worker: 'main', thread: 11, label: 'thread 1' }, { worker: 'main', thread: 12, label: 'thread 2' }],
    runs: [smallRun({ label: 'qr', executionCount: 3, sourceCrc: 7, nTasks: 4, startS: 0.5 })],
    progress: [smallProgress({
      prefix: 'sum', total: 4, finished: 2, erred: 1, running: 1, skipped: 3, again: 5, durationS: 0.75,
      scheduledS: 1.5, asked: 5, isAll: 0, queued: 1, waiting: 2, noWorker: 1
    })],
    stops: [{ run: 0, way: 'cancel' }],
    live_states: [{ run: 0, text: 'no workers yet, 3 s' }],
    running: [expect.objectContaining({ run: 0, lane: null, group: 1, keyText: 'x', startS: 5.5 })],
    estimates: [{ run: 0, stopS: 12.5, earliestS: 11, latestS: 15, nUnseen: 3 }],
    messages: [{ timeS: 0.5, level: 'info', text: 'hello', worker: null, event: null }]
  });
});

it('what rows refer to may come in a message of its own, ahead of them', () => {
  const stream = new PageStream();
  const ahead = wireMessage([], { tables: { sources: [{ text: '' }, { text: 'tcp://1' }] } });
  const rest = wireMessage(ROWS, {
    seq: 1,
    tables: { activities: [{ run: 0, lane: 1, group: 1, activity: 0, source: 1, start_s: 1e7, duration_s: 1e7, nbytes: 9 }] }
  });
  const [[first], [second]] = [ahead, rest].map(({ message, buffers }) => stream.take(message, buffers) ?? []) as [Batch[], Batch[]];
  expect([first?.tables.tasks.n, first?.tables.groups.n, first?.tables.sources.columns.text]).toEqual([0, 2, ['', 'tcp://1']]);
  const { tasks, groups, activities } = second?.tables ?? sectionsOf();
  expect([tasks.n, groups.n, plain(activities.columns.source)]).toEqual([3, 0, [1]]);
});

it('views into larger, odd-aligned buffers read alike', () => {
  const { message, buffers } = wireMessage(ROWS);
  const [buffer] = buffers as [ArrayBuffer];
  const larger = new Uint8Array(buffer.byteLength + 8);
  larger.set(new Uint8Array(buffer), 3);
  expect(new PageStream().take(message, [new DataView(larger.buffer, 3, buffer.byteLength)])).toEqual(new PageStream().take(message, buffers));
});

it('a batch does not change with the message it came in', () => {
  const { message, buffers } = wireMessage(ROWS);
  const [batch] = new PageStream().take(message, buffers) ?? [];
  const before = plain(batch);
  buffers.forEach(buffer => new Uint8Array(buffer).fill(0));
  expect(plain(batch)).toEqual(before);
});

describe('a stream', () => {
  const of = (seq: number, stream = 7): [unknown, ArrayBuffer[]] => {
    const { message, buffers } = wireMessage([{ key: [seq] }], { seq, stream, first: seq });
    return [message, buffers];
  };
  const seqs = (batches: readonly Batch[] | null): number[] | null => batches?.map(({ seq }) => seq) ?? null;

  it('goes on where it was, also in one piece, and tells nothing where a message before is missing, until it begins anew', () => {
    const whole = new PageStream();
    expect([0, 1, 2].map(seq => seqs(whole.take(...of(seq))))).toEqual([[0], [1], [2]]);
    expect(seqs(new PageStream().read(joined([0, 1, 2].map(seq => new Uint8Array(of(seq)[1][0] ?? new ArrayBuffer(0))))))).toEqual([0, 1, 2]);
    const stream = new PageStream();
    expect(seqs(stream.take(...of(1)))).toBeNull();
    expect(seqs(stream.take(...of(0)))).toEqual([0]);
    expect(seqs(stream.take(...of(2)))).toBeNull();
    expect(seqs(stream.take(...of(1, 8)))).toBeNull();
    expect(seqs(stream.take(...of(0, 8)))).toEqual([0]);
    expect(seqs(stream.take(...of(1, 8)))).toEqual([1]);
    expect(seqs(stream.take(...of(2)))).toBeNull();
  });
});

describe('what does not follow the protocol is refused by name', () => {
  const refused = (read: () => unknown): string => {
    try {
      read();
    } catch (error) {
      expect(error).toBeInstanceOf(WireError);
      return (error as WireError).message;
    }
    return 'accepted';
  };

  it.each<[FixtureBatch, string]>([
    [{ message: { protocol: 2 } }, 'message.protocol must be 1; reload the page after an upgrade of taskscope, got 2'],
    [{ message: { kind: 'other' } }, 'message.kind must be one of batch, got "other"'],
    [{ message: { kind: true } }, 'message.kind must be one of batch, got true'],
    [{ message: { kind: 'x'.repeat(78) } }, `message.kind must be one of batch, got "${'x'.repeat(78)}"`],
    [{ message: { kind: 'x'.repeat(79) } }, `message.kind must be one of batch, got "${'x'.repeat(79)}…`],
    [{ tables: { runs: [{ ...RUN, status: 4 }] } }, 'runs.status[0] must be from 0 to less than 4, got 4'],
    [{ tables: { lanes: [] }, message: {} }, 'tasks.lane[0] must be from 0 to less than 0, got 1'],
    [{ tables: { groups: [], running: [] } }, 'keys.group[0] must be from 0 to less than 0, got 0']
  ])('%o', (batch, text) => { expect(refused(() => read(ROWS, batch))).toBe(text); });

  it('anything that is no message at all', () => {
    const { buffers } = wireMessage([]);
    for (const data of [null, undefined, 'batch', 7, []]) {
      expect(refused(() => new PageStream().take(data, buffers))).toMatch(/^message must be an object/);
    }
  });

  it('more buffers, fewer, and such as are none', () => {
    const { message, buffers } = wireMessage(ROWS);
    expect(refused(() => new PageStream().take(message, []))).toBe('buffers must be one buffer, got 0');
    expect(refused(() => new PageStream().take(message, [...buffers, ...buffers]))).toBe('buffers must be one buffer, got 2');
    expect(refused(() => new PageStream().take(message, ['x' as never]))).toBe('buffers must be an ArrayBuffer or a view of one, got "x"');
  });

  it('a frame that is cut, packed or says nothing of how things stand', () => {
    const { message, buffers } = wireMessage(ROWS);
    const [buffer] = buffers as [ArrayBuffer];
    expect(refused(() => new PageStream().take(message, [buffer.slice(0, -1)]))).toMatch(/^buffers must be whole frames that are not packed/);
    const packed = joined([headerFrame(), frame([1], { kind: 1, number: 1, packed: 1, unpacked: 5 })]);
    expect(refused(() => new PageStream().read(packed))).toMatch(/^buffers must be whole frames that are not packed/);
    expect(refused(() => new PageStream().read(joined([headerFrame(), frame(described([]), { kind: 1, number: 1 })])))).toMatch(/^batch must be one with a row of state/);
  });

  it('keys of more integers than there may be', () => {
    expect(refused(() => read([{ key: [1, 2, 3, 4, 5, 6, 7, 8, 9] }]))).toBe('keys.dims[0] must be 0 to 8, or 255 with a text, got 9');
  });
});

it('groups for which there are no numbers are one group, and tasks are of it', () => {
  const groups = Array.from({ length: 65_540 }, (_, i) => ({ name: `g${i}`, prefix: `p${i}` }));
  const { tables } = read([{ group: 65_534 }, { group: 65_539 }], { tables: { ...TABLES, groups } });
  expect([tables.groups.n, tables.groups.columns.prefix.slice(-2), [...tables.tasks.columns.group]]).toEqual([65_536, ['p65534', 'further groups'], [65_534, 65_535]]);
});

it('keys read as Python writes them', () => {
  expect([tupleKey('x', []), tupleKey("it's", [1]), tupleKey('a"\'', [0, -2])]).toEqual(["('x',)", '("it\'s", 1)', `('a"\\'', 0, -2)`]);
  expect(pythonRepr('a\\\n\u202e\u00a0é')).toBe(`'a\\\\\\n\\u202e\\xa0é'`);
});
