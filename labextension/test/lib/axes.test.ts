// @vitest-environment node
import fc from 'fast-check';
import { expect, it, describe } from 'vitest';

import { MIN_SPAN_S, padded, pan, pxAt, timeAt, widthS, within, zoom } from '../../src/lib/span';
import { tickLabel, tickStepS, timeTicks, valueAxis } from '../../src/lib/ticks';
import { ThinLine } from '../../src/lib/thin';

const BOUNDS = { startS: 10, stopS: 110 };

it('zoom keeps the time under the pointer in its place', () => {
  expect(zoom({ startS: 20, stopS: 60 }, 0.5, 30, BOUNDS)).toEqual({ startS: 25, stopS: 45 });
});

it('zoom and pan stop at the bounds', () => {
  expect(zoom({ startS: 20, stopS: 60 }, 100, 30, BOUNDS)).toEqual(BOUNDS);
  expect(pan({ startS: 20, stopS: 60 }, -100, BOUNDS)).toEqual({ startS: 10, stopS: 50 });
  expect(pan({ startS: 20, stopS: 60 }, 100, BOUNDS)).toEqual({ startS: 70, stopS: 110 });
  expect(widthS(zoom(BOUNDS, 0, 50, BOUNDS))).toBeCloseTo(MIN_SPAN_S, 9);
});

it('a span around no work is not empty', () => {
  expect(padded(5, 5)).toEqual({ startS: 5, stopS: 5 + 1.02e-3 });
});

it('places and times are each other’s inverse, and spans stay within bounds', () => {
  const number = fc.double({ min: -1e4, max: 1e4, noNaN: true });
  fc.assert(
    fc.property(number, fc.double({ min: 1e-3, max: 1e4, noNaN: true }), number, (startS, width, at) => {
      const span = { startS, stopS: startS + width };
      expect(timeAt(span, 1200, pxAt(span, 1200, at))).toBeCloseTo(at, 6);
      const inside = within(span, BOUNDS);
      expect(inside.startS).toBeGreaterThanOrEqual(BOUNDS.startS);
      expect(inside.stopS).toBeLessThanOrEqual(BOUNDS.stopS + 1e-9);
    }),
    { seed: 1 }
  );
});

const labels = (startS: number, stopS: number, max: number): string[] =>
  timeTicks({ startS, stopS }, startS, max).map(tick => tick.label);

describe('time axis', () => {
  it('has round labels at every scale, also before zero', () => {
    expect(labels(0, 5, 6)).toEqual(['0 s', '1 s', '2 s', '3 s', '4 s', '5 s']);
    expect(labels(0, 0.004, 5)).toEqual(['0 s', '1 ms', '2 ms', '3 ms', '4 ms']);
    expect(labels(0, 0.5, 6)).toEqual(['0 s', '100 ms', '200 ms', '300 ms', '400 ms', '500 ms']);
    expect(labels(0, 180, 6)).toEqual(['0 s', '1 min', '2 min', '3 min']);
    expect(labels(0, 90, 5)).toEqual(['0 s', '20 s', '40 s', '1 min', '1 min 20 s']);
    expect(timeTicks({ startS: -1, stopS: 1 }, 0, 3).map(tick => tick.label)).toEqual(['-1 s', '0 s', '1 s']);
    expect(labels(0, 2 * 86400, 5)).toEqual(['0 s', '12 h', '1 d', '1 d 12 h', '2 d']);
  });

  it('tells neighbours apart when zoomed in far from zero', () => {
    const ticks = timeTicks({ startS: 112.3451, stopS: 112.3461 }, 100, 5);
    expect(ticks.map(tick => tick.label)).toEqual(['12.3452 s', '12.3454 s', '12.3456 s', '12.3458 s', '12.346 s']);
    expect(tickLabel(75.25, 0.05)).toBe('1 min 15.25 s');
  });

  it('never has more ticks than asked for, and their labels differ', () => {
    const spans = fc.record({
      startS: fc.double({ min: 0, max: 1e5, noNaN: true }),
      widthS: fc.double({ min: 1e-5, max: 1e6, noNaN: true }),
      max: fc.integer({ min: 1, max: 20 })
    });
    fc.assert(
      fc.property(spans, ({ startS, widthS, max }) => {
        const ticks = timeTicks({ startS, stopS: startS + widthS }, 0, max);
        expect(ticks.length).toBeLessThanOrEqual(max + 1);
        expect(new Set(ticks.map(tick => tick.label)).size).toBe(ticks.length);
        expect(tickStepS(widthS, max) * max).toBeGreaterThanOrEqual(widthS * 0.999);
      }),
      { seed: 7, numRuns: 500 }
    );
  });
});

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
