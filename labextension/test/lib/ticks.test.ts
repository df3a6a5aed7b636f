// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tickLabel, tickStepS, timeTicks } from '../../src/lib/ticks';

const labels = (startS: number, stopS: number, max: number): string[] =>
  timeTicks({ startS, stopS }, startS, max).map(tick => tick.label);

describe('time axis', () => {
  it('has round labels at every scale', () => {
    expect(labels(0, 5, 6)).toEqual(['0 s', '1 s', '2 s', '3 s', '4 s', '5 s']);
    expect(labels(0, 0.004, 5)).toEqual(['0 s', '1 ms', '2 ms', '3 ms', '4 ms']);
    expect(labels(0, 0.5, 6)).toEqual(['0 s', '100 ms', '200 ms', '300 ms', '400 ms', '500 ms']);
    expect(labels(0, 180, 6)).toEqual(['0 s', '1 min', '2 min', '3 min']);
    expect(labels(0, 90, 5)).toEqual(['0 s', '20 s', '40 s', '1 min', '1 min 20 s']);
    expect(labels(0, 2 * 86400, 5)).toEqual(['0 s', '12 h', '1 d', '1 d 12 h', '2 d']);
  });

  it('tells neighbours apart when zoomed in far from zero', () => {
    const ticks = timeTicks({ startS: 112.3451, stopS: 112.3461 }, 100, 5);
    expect(ticks.map(tick => tick.label)).toEqual(['12.3452 s', '12.3454 s', '12.3456 s', '12.3458 s', '12.346 s']);
    expect(tickLabel(75.25, 0.05)).toBe('1 min 15.25 s');
  });

  it('shows time before zero', () => {
    expect(timeTicks({ startS: -1, stopS: 1 }, 0, 3).map(tick => tick.label)).toEqual(['-1 s', '0 s', '1 s']);
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
