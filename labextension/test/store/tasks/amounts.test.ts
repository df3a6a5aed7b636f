// @vitest-environment node
import { expect, it } from 'vitest';

import { Amounts, NO_PREFIX } from '../../../src/store';
import { laneOf, lookAt, measured } from '../measured';

it('of an earlier round do not count, whatever the size of the table', () => {
  const amounts = new Amounts();
  for (const [columns, nPrefixes] of [[4, 3], [2, 5], [6, 2]] as const) {
    amounts.resize(columns, nPrefixes);
    amounts.begin();
    amounts.add(0, 0, 0.25);
    amounts.add(0, 1, 0.5);
    amounts.add(0, 0, 0.5);
    expect([amounts.get(0, 0), amounts.get(0, 1), amounts.get(1, 0), [...amounts.strongest.subarray(0, 2)]]).toEqual([0.75, 0.5, 0, [0, NO_PREFIX]]);
  }
});

it('of very many prefixes are done some columns at a time, with the same result', () => {
  const bars = Array.from({ length: 4_000 }, (_, i) => ({ start: i, stop: i + (i % 4 === 1 ? 0.75 : 0.5), prefix: i % 60_000, status: i % 7 === 0 ? 1 : 0 }));
  const look = lookAt(1_000, { span: { startS: 0, stopS: 4_000 }, nPrefixes: 60_000 });
  const [few, many] = [lookAt(1_000, { ...look, nPrefixes: 4_000 }), look].map(each => measured([laneOf(bars)], each));
  expect([many!.cover, many!.prefix, many!.bad, many!.marks]).toEqual([few!.cover, few!.prefix, few!.bad, few!.marks]);
  expect([...many!.prefix.subarray(0, 3)]).toEqual([1, 5, 9]);
});
