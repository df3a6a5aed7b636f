// @vitest-environment node
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { Coverage, MARK, NO_PREFIX, resample } from '../../../src/store';
import { laneOf, lookAt, measured } from '../measured';

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
