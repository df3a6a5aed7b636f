/** Blocks only make haste: with and without them coverage is the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { LaneCoverage, LaneTasks } from '../../src/store';
import type { RunRange } from '../../src/store';
import { BLOCK_KIND } from '../../src/store/blocks';
import type { Sight } from '../../src/store/coverage';

interface Step {
  gap: number;
  length: number;
  prefix: number;
  status: number;
  run: number;
}

function laneOf(steps: readonly Step[]): LaneTasks {
  const lane = new LaneTasks();
  let at = 0;
  steps.forEach(({ gap, length, prefix, status, run }, row) => {
    at += gap;
    lane.push(at, at + length, 0, prefix, status, run, row);
    at += length;
  });
  lane.settle();
  return lane;
}

type Amounts = Map<string, number>;

function measured(lane: LaneTasks, columns: number, spanS: number, runs: RunRange, sight: Sight): [LaneCoverage, Amounts] {
  const amounts: Amounts = new Map();
  const coverage = new LaneCoverage({
    add: (column, prefix, amount) => amounts.set(`${column} ${prefix}`, (amounts.get(`${column} ${prefix}`) ?? 0) + amount)
  });
  coverage.measure(lane, { startS: 5, stopS: 5 + spanS }, columns, runs, 8, sight);
  return [coverage, amounts];
}

const near = (values: Iterable<number>): number[] => Array.from(values, value => Math.round(value * 1e4) / 1e4 + 0);

/** The largest difference; the order of summing changes the last digits. */
const offBy = (a: readonly number[], b: readonly number[]): number => Math.max(0, ...a.map((value, i) => Math.abs(value - b[i]!)));

const common = { gap: fc.constantFrom(0, 0.5, 1), length: fc.constantFrom(0.25, 0.75, 1.5, 20) };
const plain = fc.record({ ...common, prefix: fc.nat({ max: 2 }), status: fc.constant(0), run: fc.constant(0) });
const odd = fc.record({
  gap: fc.constantFrom(-1, 0, 0.5), length: fc.constantFrom(0, 0.75, 3),
  prefix: fc.nat({ max: 6 }), status: fc.constantFrom(0, 0, 0, 1, 3), run: fc.nat({ max: 2 })
});
const steps = fc.array(fc.array(fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: odd }), { minLength: 8, maxLength: 60 }), {
  minLength: 1, maxLength: 4
}).map(parts => parts.flat());
const sights = fc.record({
  hidden: fc.option(fc.uint8Array({ minLength: 8, maxLength: 8, max: 1 }), { nil: null }), focus: fc.integer({ min: -1, max: 3 })
});

it('coverage with blocks is what it is task by task', () => {
  let nBlocks = 0;
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), fc.constantFrom(40, 200), fc.constantFrom(null, [0, 0], [1, 9]), sights,
      (list, columns, spanS, runs, sight) => {
        const [lane, slow] = [laneOf(list), laneOf(list)];
        nBlocks += lane.blocks.kind.filter(kind => kind === BLOCK_KIND.plain).length;
        slow.blocks.kind.fill(BLOCK_KIND.none);
        const [[a, aAmounts], [b, bAmounts]] = [lane, slow].map(l => measured(l, columns, spanS, runs as RunRange, sight)) as [
          [LaneCoverage, Amounts], [LaneCoverage, Amounts]
        ];
        const columnsOf = (c: LaneCoverage): number[][] => [c.cover, c.focus, c.bad].map(column => [...column]);
        expect(offBy(columnsOf(a).flat(), columnsOf(b).flat())).toBeLessThan(1e-5);
        expect([[...a.marks], [...aAmounts.keys()].sort()]).toEqual([[...b.marks], [...bAmounts.keys()].sort()]);
        expect(offBy([...aAmounts.keys()].map(key => aAmounts.get(key)!), [...aAmounts.keys()].map(key => bAmounts.get(key)!))).toBeLessThan(1e-5);
        expect(a.visited).toBe(b.visited);
      }),
    { seed: 31, numRuns: 400 }
  );
  expect(nBlocks).toBeGreaterThan(500);
});

describe('a block', () => {
  const row = (prefixes: number[], more: Partial<Step> = {}): Step[] =>
    prefixes.map(prefix => ({ gap: 0.5, length: 0.5, prefix, status: 0, run: 0, ...more }));

  it('has a sum for each of three prefixes, and one for the rest in the last', () => {
    const { blocks } = laneOf([...row([0, 1, 2, 0, 0, 1, 2, 2]), ...row([0, 1, 2, 3, 4, 0, 0, 0]), ...row([5])]);
    expect([[...blocks.kind.subarray(0, 2)], [...blocks.prefix.subarray(0, 6)], [...blocks.seconds.subarray(0, 6)]]).toEqual([
      [BLOCK_KIND.plain, BLOCK_KIND.mixed], [0, 1, 2, 0, 1, 2], [1.5, 1, 1.5, 2, 0.5, 1.5]
    ]);
  });

  it.each([
    ['a failure', { status: 1 }], ['a task of no duration', { length: 0 }], ['an overlap', { gap: -0.1 }], ['another compute', { run: 1 }]
  ])('is none where there is %s', (_, more) => {
    const tasks = row([0, 0, 0, 0, 0, 0, 0, 0]);
    tasks[5] = { ...tasks[5]!, ...more };
    expect(laneOf(tasks).blocks.kind[0]).toBe(BLOCK_KIND.none);
  });

  it('of many prefixes counts only in haste: coverage stays exact, the prefix may be a guess', () => {
    const lane = laneOf(row([0, 1, 2, 3, 3, 3, 3, 3]));
    const [exact] = measured(lane, 1, 10, null, { hidden: null, focus: -1 });
    const whole = { startS: 0, stopS: 10 };
    exact.measure(lane, whole, 1, null, 8);
    expect([near(exact.cover), [...exact.prefix]]).toEqual([[0.4], [3]]);
    exact.measure(lane, whole, 1, null, 8, { hidden: null, focus: -1, rough: true });
    expect([near(exact.cover), [...exact.prefix]]).toEqual([[0.4], [2]]);
  });
});
