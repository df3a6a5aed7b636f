import { expect, it } from 'vitest';

import { decodeBatch } from '../../src/wire';
import { wireMessage } from './wire-fixture';

type Sections = Record<string, unknown>;

/** Decode a message with one sample and one held row, in which something may be broken. */
function changed(
  buffers: (series: ArrayBuffer[]) => void,
  message: (sections: { resources: Sections; held: Sections }) => void = () => undefined
): () => ReturnType<typeof decodeBatch> {
  const wire = wireMessage([]);
  const series = [
    Float64Array.of(1), Float32Array.of(NaN), Float64Array.of(5), Uint16Array.of(1), Uint8Array.of(0),
    Uint16Array.of(0), Uint32Array.of(0), Uint32Array.of(1), Float64Array.of(8), Uint32Array.of(0),
    new Float64Array(), new Uint32Array()
  ].map(column => column.buffer);
  const sections = {
    resources: { first: 0, count: 1, dropped: 0, n_cores: 2, limit_bytes: 9 },
    held: { first: 0, count: 1, dropped: 0, base_s: 2, runs: [[0, 1, null]], unknown: false }
  };
  buffers(series);
  message(sections);
  return () => decodeBatch({ ...wire.message, ...sections }, [...wire.buffers.slice(0, -12), ...series]);
}

const same = (): void => undefined;

it('reads one sample and one row', () => {
  const batch = changed(same)();
  expect([batch.resources.cpuPercent, batch.held.timeS, batch.held.value]).toEqual([Float32Array.of(NaN), Float64Array.of(2), null]);
  expect([batch.resources.limitBytes, batch.held.metrics]).toEqual([9, new Map()]);
});

it('reads what a user\'s own metric says', () => {
  const batch = changed(
    series => {
      series[10] = Float64Array.of(3).buffer;
      series[11] = Uint32Array.of(1).buffer;
    },
    m => { m.held.runs = [[0, 1, 'len']]; }
  )();
  expect([batch.held.value, batch.held.nUnvalued, batch.held.metrics]).toEqual([
    Float64Array.of(3), Uint32Array.of(1), new Map([[0, 'len']])
  ]);
});

it.each<[string, () => unknown]>([
  ['buffers.rss_bytes must be 8 bytes for 1 rows, got 4', changed(series => { series[2] = new ArrayBuffer(4); })],
  ['buffers.rss_bytes[0] must be a finite number, got NaN', changed(series => { series[2] = Float64Array.of(NaN).buffer; })],
  ['buffers.sample_time_s[0] must be a finite number, got NaN', changed(series => { series[0] = Float64Array.of(NaN).buffer; })],
  ['buffers.held_nbytes[0] must be a finite number, got Infinity', changed(series => { series[8] = Float64Array.of(Infinity).buffer; })],
  [
    'buffers.held_value[0] must be a finite number, got NaN',
    changed(
      series => {
        series[10] = Float64Array.of(NaN).buffer;
        series[11] = Uint32Array.of(0).buffer;
      },
      m => { m.held.runs = [[0, 1, 'len']]; }
    )
  ],
  ['buffers.held_value must be 0 bytes for 1 rows, got 8', changed(series => { series[10] = new ArrayBuffer(8); })],
  [
    'buffers.held_value must be 8 bytes for 1 rows, got 0',
    changed(same, m => { m.held.runs = [[0, 1, 'len']]; })
  ],
  [
    'message.held.runs must be runs of 1 rows altogether, got 2',
    changed(same, m => { m.held.runs = [[0, 2, null]]; })
  ],
  [
    'message.resources.n_cores must be a whole number, 0 or more, got -1',
    changed(same, m => { m.resources.n_cores = -1; })
  ],
  ['message.held must be an object, got undefined', changed(same, m => { m.held = undefined as unknown as Sections; })]
])('refuses what is not as it should be: %s', (text, decode) => {
  expect(decode).toThrow(text);
});
