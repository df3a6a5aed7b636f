import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { WireError } from '../../src/wire';
import { BatchReader, readHeader, rowsOf } from '../../src/wire/codec';
import { crc32 } from '../../src/wire/crc';
import { Budget, readFrame, unpack } from '../../src/wire/frames';
import { LIMITS } from '../../src/wire/tables';
import { batchBytes, contentOf, described, frame, headerFrame, headerOf } from './frames';

function reader(said: Record<string, unknown> = {}): BatchReader {
  return new BatchReader(readHeader(Uint8Array.from(contentOf(JSON.stringify(headerOf(said))))));
}

/** Keys that are names only. */
function keys(n: number): Record<string, (number | null)[]> {
  const names = ['run', 'group', 'dims', 'i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6', 'i7'];
  return { ...Object.fromEntries(names.map(name => [name, Array<number>(n).fill(0)])), key_text: Array<null>(n).fill(null) };
}

/** The numbers of a column that is described so. */
function numbers(how: readonly unknown[], bytes: readonly number[], n: number): number[] {
  const content = described([['stops', 0, n, [['run', ...how], ['way', 0, 1]]]], bytes);
  return [...reader().read(Uint8Array.from(content), new Budget(0)).stops.columns.run];
}

describe('frames', () => {
  it('say what they are', () => {
    const bytes = frame([1, 2, 3], { kind: 1, number: 5, stream: 9 });
    expect(readFrame(bytes, 0)).toEqual({
      kind: 'batch', isPacked: false, stream: 9, number: 5, unpacked: 3, content: Uint8Array.from([1, 2, 3]), end: 35
    });
  });

  it('are not there where bytes end within them', () => {
    const bytes = frame([1, 2, 3], { kind: 1, number: 0 });
    for (let length = 0; length < bytes.length; length += 1) {
      expect(readFrame(bytes.subarray(0, length), 0)).toBeNull();
    }
  });

  it('are refused with any bit flipped', () => {
    const bytes = frame([1, 2, 3], { kind: 1, number: 0 });
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(() => readFrame(flipped, 0)).toThrow(WireError);
    }
  });

  it.each([
    [{ version: 2 }, /a newer taskscope may read it/],
    [{ kind: 3 }, /a frame of at most/],
    [{ reserved: 1 }, /a frame of at most/],
    [{ packed: 2 }, /a frame of at most/],
    [{ unpacked: 2 }, /a frame of at most/],
    [{ packed: 1, unpacked: LIMITS.frame + 1 }, /a frame of at most/]
  ])('are refused as %j', (head, text) => { expect(() => readFrame(frame([1, 2, 3], { kind: 1, number: 0, ...head }), 0)).toThrow(text); });

  it('unpack to what they say, and to nothing else', async () => {
    const packed = deflateSync(new Uint8Array(1000));
    const of = (unpacked: number, bytes: Uint8Array = packed): Promise<Uint8Array> => {
      const found = readFrame(frame(bytes, { kind: 1, number: 0, packed: 1, unpacked }), 0);
      return found === null ? Promise.reject(new Error('cut')) : unpack(found, new Budget(0));
    };
    expect(await of(1000)).toEqual(new Uint8Array(1000));
    await expect(of(999)).rejects.toThrow(WireError);
    await expect(of(1001)).rejects.toThrow(WireError);
    await expect(of(1000, packed.subarray(2))).rejects.toThrow(WireError);
  });

  it('are charged before they are unpacked', async () => {
    const found = readFrame(frame(deflateSync(new Uint8Array(1000)), { kind: 1, number: 0, packed: 1, unpacked: 1000 }), 0);
    await expect(unpack(found as NonNullable<typeof found>, new Budget(0, 999))).rejects.toThrow(/than its size justifies/);
  });

  it('have the checksum of zlib', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array())).toBe(0);
  });
});

describe('headers', () => {
  it('say what times and tables are', () => {
    const { content } = readFrame(headerFrame(headerOf({ zero_s: 2, tick_s: 0.5 })), 0) ?? { content: new Uint8Array() };
    const { zeroS, tickS, said } = readHeader(content);
    expect({ zeroS, tickS, recorder: said.at('recorder').text() }).toEqual({ zeroS: 2, tickS: 0.5, recorder: 'r' });
  });

  it.each([
    ['{', /a header in JSON/],
    ['[]', /an object/],
    ['{"format": 1, "zero_s": 0, "tick_s": 0}', /a part of a second/]
  ])('are refused: %s', (text, reason) => { expect(() => readHeader(Uint8Array.from(contentOf(text)))).toThrow(reason); });

  it.each([[[]], [[9, 0, 0, 0, 123]], [[1, 0, 0, 0, 255]]])('are refused as bytes %j', bytes => {
    expect(() => readHeader(Uint8Array.from(bytes))).toThrow(/a header/);
  });
});

describe('columns of whole numbers', () => {
  it('stand above a base, the lowest bytes first', () => {
    expect(numbers([1, -3], [1, 255], 2)).toEqual([-2, 252]);
    expect(numbers([2, 1], [1, 0, 2, 1], 2)).toEqual([514, 257]);
    expect(numbers([3, 2 ** 40], [0, 0, 1], 1)).toEqual([2 ** 40 + 2 ** 16]);
    expect(numbers([6, -1], [0, 0, 0, 0, 0, 1], 1)).toEqual([2 ** 40 - 1]);
    expect(numbers([0, 9], [], 2)).toEqual([9, 9]);
  });

  it.each([
    ['too few bytes', [2, 0], [1, 2, 3]],
    ['bytes that are left', [1, 0], [1, 2, 3]],
    ['more than 2 ** 52', [7, 2 ** 52], Array<number>(14).fill(255)],
    ['more bytes than a number has', [8, 0], Array<number>(16).fill(0)],
    ['a base that is no whole number', [1, 0.5], [1, 2]],
    ['a kind that is not known', ['u3', 0], [1, 2, 3, 4, 5, 6]],
    ['half a byte', [0.5, 0], [1]],
    ['floats', ['f8'], Array<number>(16).fill(0)],
    ['texts', ['text', ['A', 'A']], []],
    ['one that must be known', [0, null], []]
  ])('are refused with %s', (_, how, bytes) => { expect(() => numbers(how, bytes, 2)).toThrow(WireError); });
});

interface Cases {
  frames: string[];
  batches: Record<string, { first: number; columns: Record<string, (number | string | null)[]> }>[];
  refused: Record<string, string>;
}

describe('what the kernel writes', () => {
  const cases = JSON.parse(readFileSync(join(import.meta.dirname, '../cases/codec.json'), 'utf8')) as Cases;

  /** The sections of all frames but the first one, which says what they are. */
  function* read(stream: Uint8Array): Generator<[string, { first: number; columns: object }][]> {
    let batches: BatchReader | null = null;
    for (let at = 0; at < stream.length; ) {
      const next = readFrame(stream, at);
      if (next === null) {
        throw new Error('cut off');
      }
      at = next.end;
      if (batches === null) {
        batches = new BatchReader(readHeader(next.content));
      } else {
        yield Object.entries(batches.read(next.content, new Budget(stream.length))).filter(([, { n }]) => n > 0);
      }
    }
  }

  it('is read as it is meant', () => {
    const stream = Buffer.concat(cases.frames.map(text => Buffer.from(text, 'base64')));
    const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const plain = ({ first, columns }: { first: number; columns: object }): object => ({
      first,
      columns: Object.fromEntries(Object.entries(columns).map(([name, values]) => [
        camel(name), Array.from(values as ArrayLike<number | string | null>, value => (Number.isNaN(value) ? null : value))
      ]))
    });
    expect([...read(stream)].map(batch => Object.fromEntries(batch.map(([name, section]) => [name, plain(section)])))).toEqual(
      cases.batches.map(batch => Object.fromEntries(Object.entries(batch).map(([name, section]) => [name, plain(section)])))
    );
  });

  it.each(Object.entries(cases.refused))('is refused with %s', (_, stream) => {
    expect(() => [...read(Buffer.from(stream, 'base64'))]).toThrow(WireError);
  });
});

describe('batches', () => {
  it('have tables under the names used here, in seconds', () => {
    const bytes = batchBytes({
      groups: { columns: { name: ['add-1'], prefix: ['add'] } },
      lanes: { columns: { worker: ['main'], thread: [140_000_000_000_000], label: ['thread 1'] } },
      errors: { columns: { text: ['ValueError: \u00fc'] } },
      keys: { columns: keys(2) },
      tasks: {
        first: 40,
        columns: {
          key: [0, 1], lane: [0, 0], status: [0, 1], observed_by: [0, 1], stop_s: [20_000_000, 25_000_000],
          duration_s: [10_000_000, 5_000_000], cpu_s: [null, 2_500_000], nbytes: [null, 2 ** 40], error: [null, 0]
        }
      },
      messages: { columns: { time_s: [null], level: [0], text: [''], worker: [null], event: [8] } }
    });
    const { groups, lanes, errors, tasks, messages, keys: named, ...others } = reader({ zero_s: -100 }).read(Uint8Array.from(bytes), new Budget(bytes.length));
    expect(rowsOf(groups)).toEqual([expect.objectContaining({ name: 'add-1', prefix: 'add', colour: null })]);
    expect(rowsOf(lanes)).toEqual([{ worker: 'main', thread: 140_000_000_000_000, label: 'thread 1' }]);
    expect(rowsOf(errors)).toEqual([{ text: 'ValueError: \u00fc' }]);
    expect(rowsOf(messages)).toEqual([{ timeS: null, level: 0, text: '', worker: null, event: 8 }]);
    expect([named.n, Object.values(others).filter(({ n }) => n > 0)]).toEqual([2, []]);
    expect({ first: tasks.first, n: tasks.n, rows: rowsOf(tasks) }).toEqual({
      first: 40,
      n: 2,
      rows: [
        { key: 0, lane: 0, status: 0, observedBy: 0, stopS: 102, durationS: 1, cpuS: null, nbytes: null, error: null },
        { key: 1, lane: 0, status: 1, observedBy: 1, stopS: 102.5, durationS: 0.5, cpuS: 0.25, nbytes: 2 ** 40, error: 0 }
      ]
    });
  });

  it('leave out what is not known here, and have unknown values where a column is missing', () => {
    const bytes = described([
      ['comets', 0, 1, [['a', 'f8'], ['b', 'text', ['A']], ['c', 1, 0]]],
      ['resources', 0, 1, [['time_s', 0, 10_000_000], ['rss_bytes', 0, 5], ['n_processes', 0, 1], ['gap', 0, 0]]],
      ['workers', 0, 1, [['tail', 1, 5], ['worker', 0, 3], ['address', 'text', ['tcp://1']], ['name', 'text', ['w']], ['n_threads', 0, 2]]]
    ], Array<number>(10).fill(0));
    const { workers, resources, ...others } = reader().read(Uint8Array.from(bytes), new Budget(0));
    expect(rowsOf(workers)).toEqual([{ worker: 3, address: 'tcp://1', name: 'w', nThreads: 2 }]);
    expect(rowsOf(resources)).toEqual([{ timeS: 1, cpuPercent: null, rssBytes: 5, nProcesses: 1, gap: 0, peakBytes: null }]);
    expect(Object.values(others).filter(({ n }) => n > 0)).toEqual([]);
  });

  const sample = { time_s: [0], cpu_percent: [1], rss_bytes: [1], n_processes: [1], gap: [0] };
  const lane = { worker: ['w'], thread: [1], label: ['a'] };

  it.each<[string, number[], RegExp?]>([
    ['no rows', described([['errors', 0, 0, [['text', 'text', ['e']]]]])],
    ['more rows than there may be', described([['errors', 0, LIMITS.rows + 1, [['text', 'text', ['e']]]]])],
    ['no description', [1, 0, 0]],
    ['an end within a column', batchBytes({ resources: { columns: sample } }).slice(0, -1)],
    ['a table twice', described([['errors', 0, 1, [['text', 'text', ['e']]]], ['errors', 0, 1, [['text', 'text', ['e']]]]])],
    ['a choice that is none', batchBytes({ resources: { columns: { ...sample, gap: [2] } } }), /resources\.gap\[0\] must be from 0 to less than 2/],
    ['a time that is none', batchBytes({ resources: { columns: { ...sample, time_s: [2e17] } } })],
    ['a row that nobody told of', batchBytes({ running: { columns: { key: [0], lane: [0], start_s: [0] } } })],
    ['infinity', batchBytes({ resources: { columns: { ...sample, cpu_percent: [Infinity] } } })],
    ['a missing text that must be there', described([['errors', 0, 2, [['text', 'text', ['A', null]]]]])],
    ['texts that are no texts', described([['errors', 0, 1, [['text', 'text', [5]]]]])],
    ['more texts than rows', described([['errors', 0, 1, [['text', 'text', ['A', 'B']]]]])]
  ])('are refused with %s', (_, bytes, reason = /must be/) => {
    const read = (): unknown => reader().read(Uint8Array.from(bytes), new Budget(bytes.length));
    expect(read).toThrow(WireError);
    expect(read).toThrow(reason);
  });

  it('are refused without a column that must be there', () => {
    const bytes = described([['groups', 0, 1, [['name', 'text', ['a']]]]]);
    expect(() => reader().read(Uint8Array.from(bytes), new Budget(0))).toThrow(/frame must be groups.prefix/);
  });

  it('come in order', () => {
    const stream = reader();
    const lanes = (first: number): Uint8Array => Uint8Array.from(batchBytes({ lanes: { first, columns: lane } }));
    stream.read(lanes(0), new Budget(0));
    expect(stream.read(lanes(5), new Budget(0)).lanes.first).toBe(5);
    expect(() => stream.read(lanes(5), new Budget(0))).toThrow(/must be after those before/);
  });

  it('refer to rows of batches before, as far as their table has not begun anew', () => {
    const stream = reader();
    const tables = { groups: { columns: { name: ['g'], prefix: ['g'] } }, lanes: { columns: lane }, keys: { columns: keys(1) } };
    const failed = (first: number): Record<string, { first: number; columns: Record<string, (number | null)[]> }> => ({
      tasks: { first, columns: { key: [0], lane: [0], status: [1], observed_by: [0], stop_s: [1], duration_s: [1], cpu_s: [null], nbytes: [null], error: [0] } }
    });
    stream.read(Uint8Array.from(batchBytes({ ...tables, errors: { columns: { text: ['E', 'E'] } } })), new Budget(0));
    const again = { ...failed(0), errors: { columns: { text: ['F'] } } };
    expect(rowsOf(stream.read(Uint8Array.from(batchBytes(again)), new Budget(0)).tasks)[0]?.error).toBe(0);
    expect(rowsOf(stream.read(Uint8Array.from(batchBytes(failed(1))), new Budget(0)).tasks)[0]?.error).toBe(0);
    const beyond = { tasks: { first: 2, columns: { ...failed(2).tasks?.columns, error: [1] } } };
    expect(() => stream.read(Uint8Array.from(batchBytes(beyond)), new Budget(0))).toThrow(/tasks\.error\[0\]/);
  });

  it('take no more than their budget', () => {
    const bytes = Uint8Array.from(batchBytes({ resources: { columns: sample } }));
    const json = bytes.length - 8;
    expect(() => reader().read(bytes, new Budget(0, 47 + 16 * json))).toThrow(/than its size justifies/);
    expect(reader().read(bytes, new Budget(0, 48 + 16 * json)).resources.n).toBe(1);
  });

  it('crash nobody with random content, nor make much of little', () => {
    const good = Uint8Array.from(batchBytes({
      groups: { columns: { name: ['a', 'b'], prefix: ['a', 'b'] } },
      lanes: { columns: { worker: ['w', 'w'], thread: [1, 2], label: ['x', 'y'] } },
      keys: { columns: keys(3) },
      tasks: {
        columns: {
          key: [0, 1, 2], lane: [0, 1, 0], status: [0, 0, 0], observed_by: [0, 0, 0], stop_s: [100, 200, 3e9],
          duration_s: [1, 2, 3], cpu_s: [null, 1, 2], nbytes: [5, null, 2 ** 40], error: [null, null, null]
        }
      },
      messages: { columns: { time_s: [1, null], level: [0, 1], text: ['\u00e9', 'y'], worker: ['w', null], event: [1, null] } }
    }));
    let seed = 1;
    const random = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n;
    let [accepted, worst] = [0, 0];
    for (let i = 0; i < 20_000; i += 1) {
      const content = good.slice();
      for (let k = 0; k <= random(3); k += 1) {
        content[random(content.length)] = random(256);
      }
      try {
        const sections = Object.values(reader().read(content, new Budget(content.length)));
        const cells = sections.flatMap(({ columns }) => Object.values(columns as Record<string, ArrayLike<unknown>>));
        worst = Math.max(worst, cells.reduce((sum, values) => sum + 8 * values.length, 0) / content.length);
        accepted += 1;
      } catch (error) {
        // Not by expect(): that takes longer than what it is about.
        if (!(error instanceof WireError)) {
          throw error;
        }
      }
    }
    expect(accepted).toBeGreaterThan(100);
    expect(worst).toBeLessThan(5);
  });
});
