// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type CoverageQuery, LaneTasks, MARK, NO_PREFIX, Coverage, resample } from '../../../src/store';
import { sharedCases } from '../../shared-cases';
import { type Bar, laneOf, lookAt, measured } from '../measured';

/** The same by brute force: the union of what each task takes of each column, and sums per prefix. */
function oracle(bars: readonly Bar[], columns: number): { cover: number[]; sums: Map<number, number>[] } {
  const part = (bar: Bar, c: number): [number, number] => [Math.max(bar.start, c), Math.min(bar.stop, c + 1)];
  const at = Array.from({ length: columns }, (_, c) => c);
  return {
    cover: at.map(c => {
      let reach = -Infinity;
      let sum = 0;
      for (const [from, to] of bars.map(bar => part(bar, c)).filter(([a, b]) => b > a).sort((x, y) => x[0] - y[0])) {
        sum += Math.max(to - Math.max(from, reach), 0);
        reach = Math.max(reach, to);
      }
      return sum;
    }),
    sums: at.map(c => {
      const sums = new Map<number, number>();
      for (const bar of bars) {
        const [from, to] = part(bar, c);
        if (to > from) {
          sums.set(bar.prefix ?? 0, (sums.get(bar.prefix ?? 0) ?? 0) + to - from);
        }
      }
      return sums;
    })
  };
}

const of = (bars: readonly Bar[], columns: number, more: Partial<CoverageQuery> = {}): Coverage => measured([laneOf(bars)], lookAt(columns, more));

const round = (values: Iterable<number>): number[] => Array.from(values, v => Math.round(v * 1e4) / 1e4);

interface Case {
  name: string;
  columns: number;
  tasks: [start: number, stop: number, prefix: number][];
  busy: number[];
  prefix: (number | null)[];
}

describe('coverage', () => {
  it.each((sharedCases('coverage') as { cases: Case[] }).cases)('is that of static pictures: $name', ({ columns, tasks, busy, prefix }) => {
    const coverage = of(tasks.map(([start, stop, number]) => ({ start, stop, prefix: number })), columns);
    expect({ busy: round(coverage.cover), prefix: [...coverage.prefix].map(number => (number === NO_PREFIX ? null : number)) }).toEqual({ busy, prefix });
  });

  it('of several lanes has what took most of them all, even where it is first in none', () => {
    const lanes = [2, 3, 4].map(prefix => laneOf([{ start: 0, stop: 0.4, prefix: 1 }, { start: 0.4, stop: 1, prefix }]));
    const { cover, prefix } = measured([...lanes, laneOf([])], lookAt(2));
    expect([round(cover), [...prefix]]).toEqual([[0.75, 0], [1, NO_PREFIX]]);
  });

  it('tasks of no duration leave a trace but no coverage', () => {
    const coverage = of([{ start: 1.5, stop: 1.5, prefix: 3 }], 3);
    expect([round(coverage.cover), [...coverage.prefix], [...coverage.marks]]).toEqual([[0, 0, 0], [NO_PREFIX, 3, NO_PREFIX], [0, MARK.any, 0]]);
  });

  it('failures are marked and weighed', () => {
    const coverage = of([{ start: 0, stop: 0.25 }, { start: 0.5, stop: 1.5, status: 1 }, { start: 2, stop: 2.1, status: 3 }], 3);
    expect([...coverage.marks]).toEqual([MARK.any | MARK.erred, MARK.any | MARK.erred, MARK.any | MARK.lost]);
    expect(round(coverage.bad)).toEqual([0.5, 0.5, 0.1]);
  });

  it('wide tasks have an edge in their first whole column, if that is in filter', () => {
    const coverage = of([{ start: -1, stop: 5 }, { start: 5.5, stop: 10 }], 12);
    expect(Array.from(coverage.marks, mark => mark & MARK.edge)).toEqual([0, 0, 0, 0, 0, 0, MARK.edge, 0, 0, 0, 0, 0]);
  });

  it('other computes do not count', () => {
    const bars = [{ start: 0, stop: 1, run: 1 }, { start: 1, stop: 2, run: 2 }, { start: 2, stop: 3, run: 3 }];
    expect(round(of(bars, 3, { runs: [2, 2] }).cover)).toEqual([0, 1, 0]);
  });

  it('what is in flight fills what is free, up to now', () => {
    const lane = { tasks: laneOf([{ start: 0, stop: 1.5, prefix: 1 }]), open: [{ startS: 1.25, prefix: 2 }] };
    const coverage = measured([lane], lookAt(4, { nowS: 3.5 }));
    expect(round(coverage.cover)).toEqual([1, 1, 1, 0.5]);
    expect([...coverage.prefix]).toEqual([1, 1, 2, 2]);
    expect(Array.from(coverage.marks, mark => mark & MARK.running)).toEqual([0, MARK.running, MARK.running, MARK.running]);
    expect(round(measured([lane], lookAt(4, { nowS: 3.5, filter: { hidden: Uint8Array.of(0, 0, 1), focus: -1 } })).cover)).toEqual([1, 0.5, 0, 0]);
  });
});

const bar = fc.record({
  start: fc.double({ min: -5, max: 25, noNaN: true }),
  length: fc.oneof(fc.double({ min: 0, max: 0.2, noNaN: true }), fc.double({ min: 0, max: 12, noNaN: true })),
  prefix: fc.nat({ max: 4 })
});

it('agrees with brute force for any tasks, overlapping or not, in any order, and shows what took most of a column', () => {
  fc.assert(
    fc.property(fc.array(bar, { maxLength: 60 }), list => {
      const bars = list.map(({ start, length, prefix }) => ({ start, stop: start + length, prefix }));
      const { cover, prefix } = of(bars, 20);
      const expected = oracle(bars, 20);
      expected.cover.forEach((share, c) => { expect(cover[c]).toBeCloseTo(share, 4); });
      expected.sums.forEach((sums, c) => {
        const most = Math.max(0, ...sums.values());
        if (most > 1e-6) {
          expect(sums.get(prefix[c] ?? NO_PREFIX)).toBeCloseTo(most, 4);
        } else if (bars.every(({ start, stop }) => stop < c || start > c + 1)) {
          expect(prefix[c]).toBe(NO_PREFIX);
        }
      });
    }),
    { seed: 42, numRuns: 400 }
  );
});

it('the same tasks in any order are one lane', () => {
  fc.assert(
    fc.property(fc.array(bar, { maxLength: 40 }), fc.array(fc.nat({ max: 10 }), { maxLength: 40 }), (list, cuts) => {
      const lane = new LaneTasks();
      list.forEach(({ start, length, prefix }, row) => {
        lane.push(start, start + length, 0, prefix, 0, 0, row);
        if (cuts[row] === 0) {
          lane.settle();
        }
      });
      lane.settle();
      const order = list.map((_, row) => row).sort((a, b) => (list[a]?.start ?? 0) - (list[b]?.start ?? 0) || a - b);
      expect([...lane.row.subarray(0, lane.n)]).toEqual(order);
      let reach = -Infinity;
      const reaches = order.map(row => (reach = Math.max(reach, (list[row]?.start ?? 0) + (list[row]?.length ?? 0))));
      expect([...lane.reachS.subarray(0, lane.n)]).toEqual(reaches);
    }),
    { seed: 44, numRuns: 200 }
  );
});

it('ends where time is held: what came later does not count, what ran then is cut', () => {
  const bars = [{ start: 0, stop: 4 }, { start: 4, stop: 4.5, prefix: 1, status: 1 }];
  const cut = of(bars, 5, { untilS: 2.5 });
  expect([round(cut.cover), [...cut.prefix], [...cut.marks]]).toEqual([
    [1, 1, 0.5, 0, 0], [0, 0, 0, NO_PREFIX, NO_PREFIX], [MARK.any | MARK.edge, MARK.any, MARK.any, 0, 0]
  ]);
});

it('of some prefixes leaves the others out, and knows the part of the one in focus', () => {
  const bars = [{ start: 0, stop: 1 }, { start: 1, stop: 1.25, prefix: 1, status: 1 }, { start: 1.25, stop: 2, prefix: 2 }];
  const coverage = of(bars, 2, { filter: { hidden: Uint8Array.of(0, 1, 0), focus: 2 } });
  expect([round(coverage.cover), round(coverage.focus), round(coverage.bad)]).toEqual([[1, 0.75], [0, 0.75], [0, 0]]);
});

it('of very many prefixes are done some columns at a time, with the same result', () => {
  const bars = Array.from({ length: 4_000 }, (_, i) => ({ start: i, stop: i + (i % 4 === 1 ? 0.75 : 0.5), prefix: i % 60_000, status: i % 7 === 0 ? 1 : 0 }));
  const look = lookAt(1_000, { span: { startS: 0, stopS: 4_000 }, nPrefixes: 60_000 });
  const [few, many] = [lookAt(1_000, { ...look, nPrefixes: 4_000 }), look].map(each => measured([laneOf(bars)], each));
  expect([many!.cover, many!.prefix, many!.bad, many!.marks]).toEqual([few!.cover, few!.prefix, few!.bad, few!.marks]);
  expect([...many!.prefix.subarray(0, 3)]).toEqual([1, 5, 9]);
});

const bars = fc
  .array(fc.record({ gap: fc.constantFrom(0, 0.1, 0.7, 3), length: fc.constantFrom(0.05, 0.4, 2.5), prefix: fc.nat({ max: 3 }), status: fc.constantFrom(0, 0, 0, 1) }), {
    minLength: 5, maxLength: 80
  })
  .map(list => {
    let at = 0;
    return list.map(({ gap, length, prefix, status }) => ({ start: (at += gap), stop: (at += length), prefix, status }));
  });

it('moved by whole columns it is what is measured there', () => {
  fc.assert(
    fc.property(bars, fc.integer({ min: -9, max: 9 }), (list, shift) => {
      const lane = laneOf(list);
      const filter = { hidden: null, focus: 2 };
      const before = measured([lane], lookAt(20, { span: { startS: 10, stopS: 30 }, filter }));
      const span = { startS: 10 + shift, stopS: 30 + shift };
      const [moved, there] = [new Coverage(), measured([lane], lookAt(20, { span, filter }))];
      const found = resample(before, { startS: 10, stopS: 30 }, moved, span, 20);
      expect(found).toEqual({ first: Math.max(-shift, 0), last: Math.min(20 - shift, 20), exact: true });
      for (let c = found.first; c < found.last; c += 1) {
        expect([moved.cover[c]!, moved.focus[c]!, moved.bad[c]!].map(x => Math.round(x * 1e4))).toEqual(
          [there.cover[c]!, there.focus[c]!, there.bad[c]!].map(x => Math.round(x * 1e4))
        );
        expect([moved.prefix[c], moved.marks[c]! & ~MARK.edge]).toEqual([there.prefix[c], there.marks[c]! & ~MARK.edge]);
      }
    }),
    { seed: 51, numRuns: 200 }
  );
});

it('no busy time is lost or made up when it is stretched', () => {
  fc.assert(
    fc.property(bars, fc.double({ min: 0, max: 20, noNaN: true }), fc.double({ min: 3, max: 20, noNaN: true }), (list, startS, widthS) => {
      const lane = laneOf(list);
      const before = measured([lane], lookAt(40));
      const to = new Coverage();
      const span = { startS, stopS: startS + widthS };
      const { first, last, exact } = resample(before, { startS: 0, stopS: 40 }, to, span, 25);
      expect([first, last, exact]).toEqual([0, 25, false]);
      const columnS = widthS / 25;
      const shown = to.cover.reduce((sum, share) => sum + share * columnS, 0);
      const busy = before.cover.reduce((sum, share, c) => sum + share * Math.max(Math.min(c + 1, span.stopS) - Math.max(c, startS), 0), 0);
      expect(shown).toBeCloseTo(busy, 4);
    }),
    { seed: 52, numRuns: 200 }
  );
});

it('a column has the prefix that took most of it, all marks, and is empty where nothing was', () => {
  const before = measured([laneOf([{ start: 0, stop: 0.3, prefix: 1 }, { start: 1, stop: 1.9, prefix: 2, status: 2 }])], lookAt(4));
  const to = new Coverage();
  resample(before, { startS: 0, stopS: 4 }, to, { startS: 0, stopS: 4 }, 2);
  expect([[...to.prefix], [...to.marks], [...to.cover].map(share => Math.round(share * 1e6))]).toEqual([
    [2, NO_PREFIX], [MARK.any | MARK.interrupted, 0], [600_000, 0]
  ]);
});
