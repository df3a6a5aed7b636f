// @vitest-environment node
/** Blocks only make haste: with and without them coverage is the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { LaneTasks } from '../../../src/store';
import type { BlockLevel } from '../../../src/store/tasks/blocks';
import { type Bar, laneOf, lookAt, measured } from '../measured';

interface Step {
  gap: number;
  length: number;
  prefix: number;
  status: number;
  run: number;
}

function barsOf(steps: readonly Step[]): Bar[] {
  let at = 0;
  return steps.map(({ gap, length, prefix, status, run }) => {
    const start = at + gap;
    at = start + length;
    return { start, stop: at, prefix, status, run };
  });
}

/** The blocks that say something of their own. */
const whole = ({ stopS, n }: BlockLevel): number => stopS.subarray(0, n).filter(stop => stop < Infinity).length;

/** The same lane without any. */
function withoutBlocks(lane: LaneTasks): LaneTasks {
  lane.blocks.fine.n = 0;
  lane.blocks.coarse.n = 0;
  return lane;
}

/** The largest difference; the order of summing changes the last digits. */
const offBy = (a: readonly number[], b: readonly number[]): number => Math.max(0, ...a.map((value, i) => Math.abs(value - b[i]!)));

const common = { gap: fc.constantFrom(0, 0.5, 1), length: fc.constantFrom(0.25, 0.75, 1.5, 20) };
const plain = fc.record({ ...common, prefix: fc.nat({ max: 2 }), status: fc.constantFrom(0, 0, 0, 0, 0, 2), run: fc.constant(0) });
const odd = fc.record({
  gap: fc.constantFrom(-1, 0, 0.5), length: fc.constantFrom(0, 0.75, 3),
  prefix: fc.nat({ max: 6 }), status: fc.constantFrom(0, 0, 0, 1, 3), run: fc.nat({ max: 2 })
});
const stretch = fc.oneof(
  { weight: 3, arbitrary: fc.array(plain, { minLength: 8, maxLength: 200, size: 'max' }) }, { weight: 1, arbitrary: fc.array(odd, { minLength: 1, maxLength: 6 }) }
);
const steps = fc.array(stretch, { minLength: 1, maxLength: 4 }).map(parts => parts.flat());
const sights = fc.record({
  hidden: fc.option(fc.uint8Array({ minLength: 8, maxLength: 8, max: 1 }), { nil: null }), focus: fc.integer({ min: -1, max: 3 })
});

it('coverage with blocks is what it is task by task', () => {
  const n = { fine: 0, coarse: 0 };
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), fc.constantFrom(40, 200, 2000), fc.constantFrom(null, [0, 0] as const, [1, 9] as const), sights,
      fc.constantFrom(Infinity, 60), (list, columns, spanS, runs, filter, untilS) => {
        const [lane, slow] = [laneOf(barsOf(list)), withoutBlocks(laneOf(barsOf(list)))];
        n.fine += whole(lane.blocks.fine);
        n.coarse += whole(lane.blocks.coarse);
        const look = lookAt(columns, { span: { startS: 5, stopS: 5 + spanS }, runs, filter, untilS });
        for (const lanes of [1, 2]) {
          const [a, b] = [lane, slow].map(tasks => measured(Array.from({ length: lanes }, () => tasks), look));
          expect(offBy([...a!.cover, ...a!.focus, ...a!.bad], [...b!.cover, ...b!.focus, ...b!.bad])).toBeLessThan(1e-4);
          expect(a!.marks).toEqual(b!.marks);
        }
      }),
    { seed: 31, numRuns: 300 }
  );
  expect(n.fine).toBeGreaterThan(2000);
  expect(n.coarse).toBeGreaterThan(200);
});

it('the prefix shown with blocks is one that took most of the column', () => {
  fc.assert(
    fc.property(fc.array(plain, { minLength: 60, maxLength: 400 }), fc.integer({ min: 1, max: 9 }), (list, columns) => {
      const bars = barsOf(list);
      const spanS = bars.at(-1)!.stop / 2;
      const { prefix } = measured([laneOf(bars)], lookAt(columns, { span: { startS: 0, stopS: spanS } }));
      for (let c = 0; c < columns; c += 1) {
        const [from, to] = [(c * spanS) / columns, ((c + 1) * spanS) / columns];
        const sums = [0, 0, 0];
        for (const bar of bars) {
          sums[bar.prefix!] = sums[bar.prefix!]! + Math.max(Math.min(bar.stop, to) - Math.max(bar.start, from), 0);
        }
        const most = Math.max(...sums);
        if (most > 1e-6) {
          expect(sums[prefix[c]!]).toBeCloseTo(most, 3);
        }
      }
    }),
    { seed: 32, numRuns: 200 }
  );
});

describe('a block', () => {
  const row = (prefixes: number[], more: Partial<Step> = {}): Step[] =>
    prefixes.map(prefix => ({ gap: 0.5, length: 0.5, prefix, status: 0, run: 0, ...more }));

  it('is made anew where tasks come late', () => {
    const bars = barsOf(Array.from({ length: 200 }, () => row([1])).flat());
    const lane = laneOf(bars.slice(0, 180));
    bars.slice(180).forEach(({ start, stop, prefix = 0 }, i) => { lane.push(start - 60, stop - 60, 0, prefix, 0, 0, 180 + i); });
    lane.settle();
    const shuffled = [...bars.slice(0, 180), ...bars.slice(180).map(bar => ({ ...bar, start: bar.start - 60, stop: bar.stop - 60 }))];
    const fresh = laneOf(shuffled.sort((a, b) => a.start - b.start));
    for (const level of ['fine', 'coarse'] as const) {
      const [a, b] = [lane.blocks[level], fresh.blocks[level]];
      expect([a.n, [...a.stopS.subarray(0, a.n)], [...a.entry.subarray(0, a.n + 1)]]).toEqual([b.n, [...b.stopS.subarray(0, b.n)], [...b.entry.subarray(0, b.n + 1)]]);
    }
  });
});
