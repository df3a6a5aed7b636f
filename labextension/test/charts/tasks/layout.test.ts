// @vitest-environment node
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { gutterPx, lanesHeightPx, layoutLanes, rowAt } from '../../../src/charts/tasks/scene';
import type { LaneRow, Row } from '../../../src/charts/tasks/rows';
import { type Room, fittingTicks, roomOf } from '../../../src/charts/timeline/drawing';
import { sharedCases } from '../../shared-cases';

const rows = (n: number): LaneRow[] => Array.from({ length: n }, (_, i) => ({ kind: 'lane', id: i, label: `thread ${i + 1}`, inset: false }));
const SPAN = { startS: 0, stopS: 10 };

function roomFor(lanes: readonly Row[], widthPx: number, scrollPx = 0): Room {
  return roomOf({ widthPx, heightPx: lanesHeightPx(lanes), leftPx: gutterPx(lanes, widthPx), scrollPx, span: SPAN, zeroS: 0 });
}

it('places two lanes and an axis', () => {
  const room = roomFor(rows(2), 600);
  expect(room).toEqual({
    widthPx: 600, heightPx: 60, plotLeftPx: 68, plotWidthPx: 520, scrollPx: 0, isBrief: false,
    ticks: [0, 2, 4, 6, 8, 10].map(timeS => ({ timeS, label: `${timeS} s` }))
  });
  expect(layoutLanes(rows(2), room)).toEqual({
    plotLeftPx: 68, plotWidthPx: 520, plotHeightPx: 60, rowPx: 30, scrollPx: 0, barPx: 26,
    boxes: rows(2).map((row, i) => ({ row, topPx: 30 * i }))
  });
});

it('in a brief view rows are lower, and all of them stay within 112 pixels', () => {
  const box = { plotLeftPx: 68, plotWidthPx: 520, scrollPx: 28, isBrief: true };
  const { plotHeightPx, rowPx, boxes } = layoutLanes(rows(40), box);
  expect([plotHeightPx, rowPx, boxes.length, boxes[0]?.topPx]).toEqual([112, 14, 8, 0]);
});

it('a frame has the room that the lanes in it need', () => {
  const { heights } = sharedCases('lanes') as { heights: [n: number, allPx: number, briefPx: number][] };
  const heightPx = (n: number, isBrief: boolean): number => layoutLanes(rows(n), { plotLeftPx: 0, plotWidthPx: 1, scrollPx: 0, isBrief }).plotHeightPx;
  expect(heights.map(([n]) => [n, heightPx(n, false), heightPx(n, true)])).toEqual(heights);
});

it('of very many rows only those in sight are placed', () => {
  const room = roomFor(rows(5000), 800, 705);
  const layout = layoutLanes(rows(5000), room);
  expect([room.heightPx, lanesHeightPx(rows(5000)), layout.boxes.length]).toEqual([420, 70_000, 31]);
  expect([layout.boxes[0], layout.boxes.at(-1)]).toEqual([{ row: rows(51)[50], topPx: -5 }, { row: rows(81)[80], topPx: 415 }]);
});

it('finds the row at a height', () => {
  const layout = layoutLanes(rows(2), roomFor(rows(2), 600));
  expect([-1, 0, 29.9, 30, 59, 60, 80].map(y => (row => (row?.kind === 'lane' ? row.id : null))(rowAt(layout, y)?.row))).toEqual([null, 0, 0, 1, 1, null, null]);
});

it('long labels leave room for the bars at 320 px', () => {
  const room = roomFor([{ kind: 'lane', id: 0, label: 'x'.repeat(200), inset: false }], 320);
  expect([room.plotLeftPx, room.plotWidthPx]).toEqual([96, 212]);
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
      boxes.slice(1).forEach(([left], i) => { expect(left).toBeGreaterThanOrEqual((boxes[i]?.[1] ?? 0) + 12); });
    }),
    { seed: 9 }
  );
});
