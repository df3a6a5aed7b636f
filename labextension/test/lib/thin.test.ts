// @vitest-environment node
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { ThinLine } from '../../src/lib/thin';
import { valueAxis } from '../../src/lib/ticks';

interface Extremes {
  low: number;
  high: number;
  last: number;
}

function extremes(points: readonly (readonly [number, number])[]): Record<number, Extremes> {
  const found: Record<number, Extremes> = {};
  for (const [x, y] of points) {
    const column = found[Math.floor(x)];
    found[Math.floor(x)] = { low: Math.min(column?.low ?? y, y), high: Math.max(column?.high ?? y, y), last: y };
  }
  return found;
}

function pairs(flat: readonly number[]): [number, number][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}

it('keeps the lowest, the highest and the last of each pixel column, in at most five points', () => {
  const point = fc.tuple(fc.double({ min: 0, max: 9.99, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true }));
  fc.assert(
    fc.property(fc.array(point, { minLength: 1 }), unsorted => {
      const points = unsorted.sort((a, b) => a[0] - b[0]);
      const line = new ThinLine();
      points.forEach(([x, y]) => { line.to(x, y); });
      const [segment = []] = line.end();
      const thin = pairs(segment);
      expect(extremes(thin)).toEqual(extremes(points));
      expect(thin.length).toBeLessThanOrEqual(5 * Object.keys(extremes(points)).length);
      expect(thin.map(([x]) => x)).toEqual(thin.map(([x]) => x).sort((a, b) => a - b));
    })
  );
});

it('does not join what was lifted apart, and shows a point by itself', () => {
  const line = new ThinLine();
  line.lift();
  line.to(1, 1);
  line.to(2, 2);
  line.lift();
  line.to(2.5, 7);
  expect(line.end()).toEqual([[1, 1, 2, 2], [2.5, 7]]);
});

it.each([
  [1, 2, false, 1, [0, 0.5, 1]],
  [0, 3, false, 1, [0, 0.5, 1]],
  [604e6, 3, false, 1e9, [0, 500e6, 1e9]],
  [600e6, 3, false, 600e6, [0, 200e6, 400e6, 600e6]],
  [1, 3, true, 1, [0, 1]],
  [7, 3, true, 10, [0, 5, 10]],
  [25.3e9, 3, false, 30e9, [0, 10e9, 20e9, 30e9]]
])('an axis up to %d with %d labels ends at a round value', (most, labels, whole, top, values) => {
  const axis = valueAxis(most, labels, String, whole);
  expect([axis.top, axis.ticks.map(tick => tick.value)]).toEqual([top, values]);
});
