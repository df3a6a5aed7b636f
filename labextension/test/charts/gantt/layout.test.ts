import fc from 'fast-check';
import { expect, it } from 'vitest';

import { fittingTicks, laneAt, laneHeightPx, layoutGantt } from '../../../src/charts/gantt/layout';

const lanes = (n: number): { id: number; label: string }[] => Array.from({ length: n }, (_, i) => ({ id: i, label: `thread ${i + 1}` }));
const SPAN = { startS: 0, stopS: 10 };

it('places two lanes and an axis', () => {
  expect(layoutGantt({ widthPx: 600, lanes: lanes(2), span: SPAN, zeroS: 0, scrollPx: 0 })).toEqual({
    widthPx: 600, heightPx: 86, contentPx: 86, plotLeftPx: 68, plotWidthPx: 520, plotHeightPx: 60, lanePx: 30, barPx: 26,
    boxes: [{ id: 0, label: 'thread 1', topPx: 0 }, { id: 1, label: 'thread 2', topPx: 30 }],
    ticks: [0, 2, 4, 6, 8, 10].map(timeS => ({ timeS, label: `${timeS} s` }))
  });
});

it('of very many lanes only those in sight are placed', () => {
  const layout = layoutGantt({ widthPx: 800, lanes: lanes(5000), span: SPAN, zeroS: 0, scrollPx: 705 });
  expect([layout.heightPx, layout.contentPx, layout.boxes.length]).toEqual([446, 70_026, 31]);
  expect([layout.boxes[0], layout.boxes.at(-1)]).toEqual([
    { id: 50, label: 'thread 51', topPx: -5 }, { id: 80, label: 'thread 81', topPx: 415 }
  ]);
});

it('finds the lane at a height', () => {
  const layout = layoutGantt({ widthPx: 600, lanes: lanes(2), span: SPAN, zeroS: 0, scrollPx: 0 });
  expect([-1, 0, 29.9, 30, 59, 60, 80].map(y => laneAt(layout, y)?.id ?? null)).toEqual([null, 0, 0, 1, 1, null, null]);
});

it('long labels leave room for the bars at 320 px', () => {
  const layout = layoutGantt({ widthPx: 320, lanes: [{ id: 0, label: 'x'.repeat(200) }], span: SPAN, zeroS: 0, scrollPx: 0 });
  expect([layout.plotLeftPx, layout.plotWidthPx]).toEqual([83, 225]);
});

it('lanes get lower as they get more, never higher', () => {
  const heights = [1, 4, 5, 9, 17, 33, 5000].map(laneHeightPx);
  expect(heights).toEqual([30, 30, 26, 22, 18, 14, 14]);
});

it('labels of ticks that are shown never overlap', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 500 }), fc.integer({ min: 5, max: 90 })), { maxLength: 30 }), list => {
      const places = list.map(([px, labelPx]) => ({ px, labelPx })).sort((a, b) => a.px - b.px);
      const fits = fittingTicks(places, 500);
      const boxes = places.filter((_, i) => fits[i]).map(({ px, labelPx }) => {
        const left = Math.min(Math.max(px - labelPx / 2, 0), 500 - labelPx);
        return [left, left + labelPx] as const;
      });
      boxes.slice(1).forEach(([left], i) => {
        expect(left).toBeGreaterThanOrEqual((boxes[i]?.[1] ?? 0) + 12);
      });
    }),
    { seed: 9 }
  );
});
