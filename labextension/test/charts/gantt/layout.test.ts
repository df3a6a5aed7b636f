import fc from 'fast-check';
import { expect, it } from 'vitest';

import { fittingTicks, layoutGantt, rowAt, rowHeightPx } from '../../../src/charts/gantt/layout';
import type { LaneRow } from '../../../src/charts/gantt/rows';

const rows = (n: number): LaneRow[] => Array.from({ length: n }, (_, i) => ({ kind: 'lane', id: i, label: `thread ${i + 1}`, inset: false }));
const SPAN = { startS: 0, stopS: 10 };

it('places two lanes and an axis', () => {
  expect(layoutGantt({ widthPx: 600, rows: rows(2), span: SPAN, zeroS: 0, scrollPx: 0 })).toEqual({
    widthPx: 600, heightPx: 86, contentPx: 86, plotLeftPx: 68, plotWidthPx: 520, plotHeightPx: 60, rowPx: 30, scrollPx: 0, barPx: 26,
    boxes: rows(2).map((row, i) => ({ row, topPx: 30 * i })),
    ticks: [0, 2, 4, 6, 8, 10].map(timeS => ({ timeS, label: `${timeS} s` }))
  });
});

it('of very many rows only those in sight are placed', () => {
  const layout = layoutGantt({ widthPx: 800, rows: rows(5000), span: SPAN, zeroS: 0, scrollPx: 705 });
  expect([layout.heightPx, layout.contentPx, layout.boxes.length]).toEqual([446, 70_026, 31]);
  expect([layout.boxes[0], layout.boxes.at(-1)]).toEqual([
    { row: rows(51)[50], topPx: -5 }, { row: rows(81)[80], topPx: 415 }
  ]);
});

it('finds the row at a height', () => {
  const layout = layoutGantt({ widthPx: 600, rows: rows(2), span: SPAN, zeroS: 0, scrollPx: 0 });
  expect([-1, 0, 29.9, 30, 59, 60, 80].map(y => (row => (row?.kind === 'lane' ? row.id : null))(rowAt(layout, y)?.row))).toEqual([null, 0, 0, 1, 1, null, null]);
});

it('long labels leave room for the bars at 320 px', () => {
  const layout = layoutGantt({ widthPx: 320, rows: [{ kind: 'lane', id: 0, label: 'x'.repeat(200), inset: false }], span: SPAN, zeroS: 0, scrollPx: 0 });
  expect([layout.plotLeftPx, layout.plotWidthPx]).toEqual([83, 225]);
});

it('rows get lower as they get more, never higher', () => {
  const heights = [1, 4, 5, 9, 17, 33, 5000].map(rowHeightPx);
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
