/** What a refusal says, to the letter, and what stands at the edge of being refused. */
import { expect, it } from 'vitest';

import { WireError, decodeBatch } from '../../src/wire';
import type { FixtureRow, WireMessage } from './wire-fixture';
import { wireMessage } from './wire-fixture';

function refusal({ message, buffers }: WireMessage): string {
  try {
    decodeBatch(message, buffers);
  } catch (error) {
    return String(error);
  }
  return 'accepted';
}

const message = (change: Record<string, unknown>): string => refusal(wireMessage([], change));

it.each<[unknown, string]>([
  [true, 'true'],
  [() => 0, 'function'],
  ['x'.repeat(78), `"${'x'.repeat(78)}"`],
  ['x'.repeat(79), `"${'x'.repeat(79)}…`]
])('says what it got, but not all of a long text: %s', (kind, got) => {
  expect(message({ kind })).toBe(`WireError: message.kind must be one of batch, got ${got}`);
});

it('names all that would have been right', () => {
  const { message: { runs } } = wireMessage([]);
  const [run] = runs as Record<string, unknown>[];
  expect(message({ runs: [{ ...run, status: 'done' }] })).toBe(
    'WireError: message.runs[0].status must be one of running, finished, erred, interrupted, got "done"'
  );
});

it('takes the largest numbers there can be', () => {
  const { message: whole, buffers } = wireMessage([], { groups: [[65535, 'a', 'a']], running: [[0, 8191, 65535, 'x', 5]] });
  const batch = decodeBatch(whole, buffers);
  expect([batch.groups, batch.running]).toEqual([
    [{ id: 65535, name: 'a', prefix: 'a' }], [{ run: 0, lane: 8191, group: 65535, key: 'x', startS: 5 }]
  ]);
  const longest = wireMessage([{ key: Array.from({ length: 200 }, (_, i) => i) }]);
  expect(decodeBatch(longest.message, longest.buffers).tasks.keys.ints.length).toBe(200);
});

const ROWS: FixtureRow[] = [{ key: [1], status: 1 }, { key: 'é' }];

it.each<[number, number, string]>([
  [2, 4, 'stop_us must be 8 bytes for 2 tasks, got 4'],
  [7, 3, 'key_ints must be a multiple of 4 bytes, got 3'],
  [7, 8, 'key_ints must be 1 entries, got 2'],
  [8, 4, 'key_lengths must be 1 entries, got 2'],
  [9, 1, 'key_text must be 2 entries, got 1'],
  [10, 4, 'error must be 1 entries, got 2']
])('buffer %i of %i bytes', (i, length, text) => {
  const wire = wireMessage(ROWS);
  wire.buffers[i] = i === 8 ? Uint16Array.of(1, 1).buffer : new ArrayBuffer(length);
  expect(refusal(wire)).toBe(`WireError: buffers.${text}`);
});

it('a duration without an end is none', () => {
  expect(refusal(wireMessage([{ durationS: Infinity }]))).toBe(
    'WireError: buffers.duration_s[0] must be 0 or more, got Infinity'
  );
});

it('a batch does not change with the message it came in', () => {
  const { message: whole, buffers } = wireMessage(ROWS);
  const { keys } = decodeBatch(whole, buffers).tasks;
  buffers.forEach(buffer => new Uint8Array(buffer).fill(0));
  expect([keys.dims, keys.ints, keys.lengths, keys.text]).toEqual([
    Uint8Array.of(1, 255), Int32Array.of(1), Uint16Array.of(2), Uint8Array.of(0xc3, 0xa9)
  ]);
});

it('what only clusters have follows the other buffers, for whom it is decoded', () => {
  const { message: whole, buffers } = wireMessage([], { cluster: { n: 7 } });
  const more = Uint8Array.of(1, 2).buffer;
  const decode = (...[section, rest]: [{ at(name: string): { value: unknown } }, readonly unknown[]]): never =>
    ({ n: section.at('n').value, rest }) as never;
  expect(decodeBatch(whole, [...buffers, more], decode).cluster).toEqual({ n: 7, rest: [more] });
  expect(decodeBatch(whole, buffers, decode).cluster).toEqual({ n: 7, rest: [] });
  expect(decodeBatch(whole, [...buffers, more]).cluster).toBeNull();
  expect(() => decodeBatch(whole, buffers.slice(1), decode)).toThrow(WireError);
});

it('without it, more buffers are too many', () => {
  const { message: whole, buffers } = wireMessage([]);
  expect(refusal({ message: whole, buffers: [...buffers, new ArrayBuffer(0)] })).toBe(
    `WireError: buffers must be ${buffers.length} buffers, got ${buffers.length + 1}`
  );
});
