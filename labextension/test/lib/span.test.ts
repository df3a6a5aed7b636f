// @vitest-environment node
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { MIN_SPAN_S, padded, pan, pxAt, timeAt, widthS, within, zoom } from '../../src/lib/span';

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
