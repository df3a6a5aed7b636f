import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { BUFFERS, WireError, decodeBatch, pythonRepr, tupleKey } from '../../src/wire';
import { heldColumns, resourceColumns } from '../store/series';
import type { FixtureRow, WireMessage } from './wire-fixture';
import { wireMessage } from './wire-fixture';

const ROWS: FixtureRow[] = [
  { lane: 1, status: 1, stopUs: 2_000_000, durationS: 0.5, share: 65534, size: 1024, key: [3, -4], error: 'ValueError: no' },
  { lane: 8191, status: 3, scheduler: true, group: 1, stopUs: 0, durationS: 0, key: 'é' }
];

const decode = ({ message, buffers }: WireMessage): ReturnType<typeof decodeBatch> => decodeBatch(message, buffers);

it('a message becomes a batch, whole and converted', () => {
  expect(decode(wireMessage(ROWS))).toEqual({
    recorder: 'rec', epoch: 'rec-1', seq: 0, nowS: 10, active: true, final: false,
    first: 0, count: 2, cursor: 2, dropped: 0, cluster: null,
    tasks: {
      run: Int32Array.of(0, 0),
      lane: Uint16Array.of(1, 8191),
      group: Uint16Array.of(0, 1),
      status: Uint8Array.of(1, 3),
      scheduler: Uint8Array.of(0, 1),
      startS: Float64Array.of(2.5, 1),
      stopS: Float64Array.of(3, 1),
      cpuShare: Uint16Array.of(65534, 65535),
      sizeCode: Uint16Array.of(1024, 65535),
      keys: {
        dims: Uint8Array.of(2, 255),
        ints: Int32Array.of(3, -4),
        lengths: Uint16Array.of(2),
        text: Uint8Array.of(0xc3, 0xa9)
      },
      error: Uint16Array.of(0, 65535)
    },
    errors: ['ValueError: no'],
    groups: [{ id: 0, name: 'sum-1a', prefix: 'sum' }, { id: 1, name: "it's", prefix: "it's" }],
    lanes: [
      { id: 0, worker: 'main', thread: 11, label: 'thread 1' },
      { id: 1, worker: 'main', thread: 12, label: 'thread 2' }
    ],
    runs: [{
      run: 0, label: 'qr', cell: null, executionCount: 3, sourceCrc: 7, scheduler: 'threads', nWorkers: 2, nTasks: 4,
      startS: 0.5, stopS: null, status: 'running', error: null
    }],
    progress: [{
      run: 0, prefix: 'sum', total: 4, finished: 2, erred: 1, running: 1, interrupted: 0, spared: 3, again: 5, durationS: 0.75,
      scheduled: { timeS: 1.5, asked: 5, isAll: false, queued: 1, waiting: 2, noWorker: 1 }
    }],
    running: [{ run: 0, lane: null, group: 1, key: 'x', startS: 5.5 }],
    estimates: [{ run: 0, stopS: 12.5, earliestS: 11, latestS: 15, nUnseen: 3 }],
    remarks: [{ timeS: 0.5, level: 'info', text: 'hello' }],
    resources: resourceColumns([], { nCores: null, limitBytes: null }),
    held: heldColumns()
  });
});

it('views into larger, odd-aligned buffers decode alike', () => {
  const { message, buffers } = wireMessage(ROWS);
  const views = buffers.map(buffer => {
    const larger = new Uint8Array(buffer.byteLength + 8);
    larger.set(new Uint8Array(buffer), 3);
    return new DataView(larger.buffer, 3, buffer.byteLength);
  });
  expect(decodeBatch(message, views)).toEqual(decodeBatch(message, buffers));
});

describe('what does not follow the protocol is refused by name', () => {
  const refused = (change: Record<string, unknown>): string => {
    try {
      decode(wireMessage(ROWS, change));
    } catch (error) {
      expect(error).toBeInstanceOf(WireError);
      return (error as WireError).message;
    }
    return 'accepted';
  };

  it.each([
    [{ protocol: 2 }, 'message.protocol must be 1; reload the page after an upgrade of taskscope, got 2'],
    [{ kind: 'other' }, 'message.kind must be one of batch, got "other"'],
    [{ seq: -1 }, 'message.seq must be a whole number, 0 or more, got -1'],
    [{ count: 1e9 }, 'message.count must be a whole number from 0 to 1000000, got 1000000000'],
    [{ base_s: NaN }, 'message.base_s must be a finite number, got NaN'],
    [{ base_s: null }, 'message.base_s must be a finite number, got null'],
    [{ active: 1 }, 'message.active must be true or false, got 1'],
    [{ epoch: undefined }, 'message.epoch must be a string, got undefined'],
    [{ groups: {} }, 'message.groups must be an array, got an object'],
    [{ groups: [[0, 'a']] }, 'message.groups[0] must be an array of 3, got an array of 2'],
    [{ groups: [[70_000, 'a', 'a']] }, 'message.groups[0][0] must be a whole number from 0 to 65535, got 70000'],
    [{ lanes: [[9000, 'w', 1, 'l']] }, 'message.lanes[0][0] must be a whole number from 0 to 8191, got 9000'],
    [{ runs: [{ run: 0 }] }, 'message.runs[0].n_tasks must be a whole number, 0 or more, got undefined'],
    [{ task_runs: [[0, 1]] }, 'message.task_runs must be runs of 2 rows altogether, got 1'],
    [{ errors: [] }, 'buffers.error[0] must be less than 0, or 65535, got 0'],
    [{ errors: [7] }, 'message.errors[0] must be a string, got 7'],
    [{ running: [[0, 0, 0, 5, 1]] }, 'message.running[0][3] must be a string, got 5']
  ])('%o', (change, text) => {
    if ('runs' in change) {
      expect(refused(change)).toContain('message.runs[0].');
    } else {
      expect(refused(change)).toBe(text);
    }
  });

  it('anything that is no message at all', () => {
    const { buffers } = wireMessage([]);
    for (const data of [null, undefined, 'batch', 7, []]) {
      expect(() => decodeBatch(data, buffers)).toThrow(WireError);
    }
  });

  it('too few buffers, and buffers that are none', () => {
    const { message, buffers } = wireMessage(ROWS);
    expect(() => decodeBatch(message, buffers.slice(1))).toThrow(`buffers must be ${buffers.length} buffers, got ${buffers.length - 1}`);
    const wrong = [...buffers];
    wrong[2] = 'x' as never;
    expect(() => decodeBatch(message, wrong)).toThrow('buffers.stop_us must be an ArrayBuffer or a view of one, got "x"');
  });

  it.each(BUFFERS.map(({ name }, i) => [name, i] as const))('a truncated or longer %s', (name, i) => {
    const { message, buffers } = wireMessage(ROWS);
    const whole = buffers[i] ?? new ArrayBuffer(0);
    for (const length of [whole.byteLength - 1, whole.byteLength + 4]) {
      const changed = [...buffers];
      changed[i] = new ArrayBuffer(length);
      expect(() => decodeBatch(message, changed)).toThrow(`buffers.`);
    }
    expect(name).toBe(BUFFERS[i]?.name);
  });

  it('durations that are none, and keys of 201 integers', () => {
    expect(() => decode(wireMessage([{ durationS: NaN }]))).toThrow('buffers.duration_s[0] must be 0 or more, got NaN');
    expect(() => decode(wireMessage([{ durationS: -1 }]))).toThrow('buffers.duration_s[0] must be 0 or more, got -1');
    const { message, buffers } = wireMessage([{}]);
    buffers[6] = Uint8Array.of(201).buffer;
    expect(() => decodeBatch(message, buffers)).toThrow('buffers.key_dims[0] must be 0 to 200, or 255, got 201');
  });

  it('random bytes never decode into a wrong number of rows', () => {
    const bytes = fc.uint8Array({ maxLength: 64 }).map(array => array.slice().buffer);
    fc.assert(
      fc.property(fc.array(bytes, { minLength: BUFFERS.length, maxLength: BUFFERS.length }), fc.nat({ max: 20 }), (buffers, count) => {
        const { message } = wireMessage([], { count, task_runs: [[0, count]] });
        try {
          expect(decodeBatch(message, buffers).tasks.stopS.length).toBe(count);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }),
      { seed: 3, numRuns: 500 }
    );
  });
});

it('keys read as Python writes them', () => {
  expect([tupleKey('x', []), tupleKey("it's", [1]), tupleKey('a"\'', [0, -2])]).toEqual([
    "('x',)", '("it\'s", 1)', `('a"\\'', 0, -2)`
  ]);
  expect(pythonRepr('a\\\n\u202e\u00a0é')).toBe(`'a\\\\\\n\\u202e\\xa0é'`);
});
