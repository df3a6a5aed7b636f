// @vitest-environment node
import { expect, it } from 'vitest';

import { laneOf, lookAt, measured } from '../measured';

it('of very many prefixes are done some columns at a time, with the same result', () => {
  const bars = Array.from({ length: 4_000 }, (_, i) => ({ start: i, stop: i + (i % 4 === 1 ? 0.75 : 0.5), prefix: i % 60_000, status: i % 7 === 0 ? 1 : 0 }));
  const look = lookAt(1_000, { span: { startS: 0, stopS: 4_000 }, nPrefixes: 60_000 });
  const [few, many] = [lookAt(1_000, { ...look, nPrefixes: 4_000 }), look].map(each => measured([laneOf(bars)], each));
  expect([many!.cover, many!.prefix, many!.bad, many!.marks]).toEqual([few!.cover, few!.prefix, few!.bad, few!.marks]);
  expect([...many!.prefix.subarray(0, 3)]).toEqual([1, 5, 9]);
});
