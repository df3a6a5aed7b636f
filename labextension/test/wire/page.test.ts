/** What a page is told, message by message. */
import { describe, expect, it } from 'vitest';

import type { Batch } from '../../src/wire';
import { PageStream, WireError, pythonRepr, tupleKey } from '../../src/wire';
import { described, frame, headerFrame, joined } from './frames';
import type { FixtureBatch, FixtureRow } from './wire-fixture';
import { RUN, TABLES, wireMessage } from './wire-fixture';

const ROWS: FixtureRow[] = [
  { lane: 1, status: 1, stopUs: 2_000_000, durationS: 0.5, cpuS: 0.5, nbytes: 1, key: [3, -4], error: 'ValueError: no' },
  { lane: 0, status: 3, scheduler: true, group: 1, key: 'é' },
  { durationS: 1, stopUs: 1_000_000, cpuS: 2, isCpuShared: true, nbytes: 2 ** 40 }
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

it('a message becomes a batch, whole and converted', () => {
  expect(plain(read(ROWS))).toEqual({
    recorder: 'rec', epoch: 'rec-1', seq: 0, nowS: 10, active: true, final: false, first: 0, count: 3, cursor: 3, dropped: 0, cluster: null,
    metered: { row: [], cpuS: [], cpuFrom: [] },
    tasks: {
      run: [0, 0, 0], lane: [1, 0, 0], group: [0, 1, 0], status: [1, 3, 0], observedBy: [0, 1, 0], cpuFrom: [0, 0, 1], startS: [2.5, 1, 1], stopS: [3, 1, 2],
      cpuS: [0.5, NaN, 2], nbytes: [1, NaN, 2 ** 40],
      keys: { dims: [2, 255, 0], ints: [3, -4], lengths: [2], text: [0xc3, 0xa9] },
      error: [0, 65_535]
    },
    errors: ['ValueError: no'],
    groups: [{ id: 0, name: 'sum-1a', prefix: 'sum', colour: null }, { id: 1, name: "it's", prefix: "it's", colour: null }],
    lanes: [{ id: 0, worker: 'main', thread: 11, label: 'thread 1' }, { id: 1, worker: 'main', thread: 12, label: 'thread 2' }],
    runs: [{
      run: 0, label: 'qr', cell: null, executionCount: 3, sourceCrc: 7, lockShare: null, array: null, graphBytes: null, largestArgument: null, largestArgumentBytes: null, scheduler: 'threads', nWorkers: 2, nTasks: 4,
      startS: 0.5, stopS: null, status: 'running', error: null,
      sendS: null, receivedS: null, materializeS: null, orderS: null, initializeS: null, poolStartS: null
    }],
    progress: [{
      run: 0, prefix: 'sum', total: 4, finished: 2, erred: 1, running: 1, interrupted: 0, skipped: 3, again: 5, durationS: 0.75, firstS: null,
      scheduled: { timeS: 1.5, asked: 5, isAll: false, queued: 1, waiting: 2, noWorker: 1 }
    }],
    stops: [{ run: 0, way: 'cancel' }],
    running: [{ run: 0, lane: null, group: 1, key: 'x', startS: 5.5 }],
    estimates: [{ run: 0, stopS: 12.5, earliestS: 11, latestS: 15, nUnseen: 3 }],
    remarks: [{ timeS: 0.5, level: 'info', text: 'hello', worker: null, event: null }],
    resources: { first: 0, nCores: null, limitBytes: null, timeS: [], cpuPercent: [], rssBytes: [], nProcesses: [], gap: [] },
    held: {
      first: 0, run: [], group: [], timeS: [], nKeys: [], nbytes: [], nUnsized: [], value: null, nUnvalued: null, metrics: new Map(), isUnknown: false
    }
  });
});

it('what only clusters have', () => {
  const { cluster, metered } = read([], {
    tables: {
      sources: [{ text: '' }, { text: 'tcp://1' }],
      activities: [
        { run: 0, lane: 1, group: 0, activity: 1, source: 1, start_s: 1e7, duration_s: 5e6, nbytes: 9 },
        { run: 0, lane: 1, group: 0, activity: 6, source: null, start_s: 1e7, duration_s: 5e6, nbytes: null }
      ],
      completed: [{ row: 1, nbytes: 4 }],
      metered: [{ row: 2, cpu_s: 5e6, cpu_from: 1 }],
      workers: [{ worker: 3, address: 'tcp://1', name: 'one', n_threads: 2 }],
      worker_samples: [{
        time_s: 1e7, worker: 3, n_threads: 2, n_executing: null, cpu_percent: 50, rss_bytes: null, managed_bytes: 2, spilled_bytes: 0, limit_bytes: 9,
        tick_s: null, gil_contention: null, net_read_bps: null, net_write_bps: null,
        disk_read_bps: null, disk_write_bps: null, n_fds: null, gpu_percent: null, gpu_bytes: null
      }],
      metrics: [{ run: 2, prefix: 'sum', activity: 'thread-cpu', seconds: 1e7 }]
    }
  });
  expect(plain(metered)).toEqual({ row: [2], cpuS: [0.5], cpuFrom: [1] });
  expect(plain(cluster)).toEqual({
    activities: {
      first: 0, dropped: 0, run: [0, 0], lane: [1, 1], kind: [1, 6], group: [0, 0], source: [1, 0], startS: [1, 1], durationS: [0.5, 0.5],
      nbytes: [9, NaN], completedRow: [1], completedBytes: [4], sources: [{ id: 0, address: '' }, { id: 1, address: 'tcp://1' }]
    },
    workers: {
      first: 0, worker: [3], timeS: [1], nThreads: [2], nExecuting: [65_535], cpuPercent: [50], rssBytes: [NaN], managedBytes: [2],
      spilledBytes: [0], limitBytes: [9], tickS: [NaN], gilContention: [NaN], netReadBps: [NaN], netWriteBps: [NaN],
      diskReadBps: [NaN], diskWriteBps: [NaN], nFds: [NaN], gpuPercent: [NaN], gpuBytes: [NaN], workers: [{ id: 3, address: 'tcp://1', name: 'one', nThreads: 2 }]
    },
    metrics: [{ run: 2, prefix: 'sum', activity: 'thread-cpu', seconds: 1 }]
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
  expect([first?.count, first?.groups.length, first?.cluster?.activities.sources]).toEqual([
    0, 2, [{ id: 0, address: '' }, { id: 1, address: 'tcp://1' }]
  ]);
  expect([second?.first, second?.count, second?.groups, plain(second?.cluster?.activities.source)]).toEqual([0, 3, [], [1]]);
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

  it('goes on where it was', () => {
    const stream = new PageStream();
    expect([0, 1, 2].map(seq => seqs(stream.take(...of(seq))))).toEqual([[0], [1], [2]]);
  });

  it('tells nothing where a message before is missing, until it begins anew', () => {
    const stream = new PageStream();
    expect(seqs(stream.take(...of(1)))).toBeNull();
    expect(seqs(stream.take(...of(0)))).toEqual([0]);
    expect(seqs(stream.take(...of(2)))).toBeNull();
    expect(seqs(stream.take(...of(1, 8)))).toBeNull();
    expect(seqs(stream.take(...of(0, 8)))).toEqual([0]);
    expect(seqs(stream.take(...of(1, 8)))).toEqual([1]);
    expect(seqs(stream.take(...of(2)))).toBeNull();
  });

  it('may come as one piece', () => {
    const bytes = joined([0, 1, 2].map(seq => new Uint8Array(of(seq)[1][0] ?? new ArrayBuffer(0))));
    expect(seqs(new PageStream().read(bytes))).toEqual([0, 1, 2]);
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
    [{ tables: { groups: [], running: [] } }, 'tasks.group[0] must be from 0 to less than 0, got 0']
  ])('%o', (batch, text) => {
    expect(refused(() => read(ROWS, batch))).toBe(text);
  });

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
    expect(refused(() => new PageStream().read(joined([headerFrame(), frame(described([]), { kind: 1, number: 1 })])))).toMatch(/^batch must be one that says how/);
  });

  it('keys of more integers than there may be', () => {
    expect(refused(() => read([{ key: [1, 2, 3, 4, 5, 6, 7, 8, 9] }]))).toBe('tasks.dims[0] must be 0 to 8, or 255, got 9');
  });

  it('more groups than there are numbers for', () => {
    const groups = Array.from({ length: 65_537 }, (_, i) => ({ name: `${i}`, prefix: 'x' }));
    expect(refused(() => read([], { tables: { ...TABLES, groups } }))).toBe('batch must be at most 65536 names, got 65537');
  });
});

it('keys read as Python writes them', () => {
  expect([tupleKey('x', []), tupleKey("it's", [1]), tupleKey('a"\'', [0, -2])]).toEqual([
    "('x',)", '("it\'s", 1)', `('a"\\'', 0, -2)`
  ]);
  expect(pythonRepr('a\\\n\u202e\u00a0é')).toBe(`'a\\\\\\n\\u202e\\xa0é'`);
});
