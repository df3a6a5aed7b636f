// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { type BarColours, lostFailures, mix, pack, paintBars } from '../../../src/charts/tasks/bars';
import { MARK } from '../../../src/store';
import { laneOf, lookAt, measured } from '../../store/measured';

const COLOURS: BarColours = {
  ground: [200, 200, 200], paper: [255, 255, 255], ink: [0, 0, 0], other: [120, 120, 120], focus: -1, error: [255, 0, 0], errorGap: [0, 0, 0], stopped: [0, 0, 255],
  prefix: id => [id * 10, 0, 100]
};
const GROUND = pack(COLOURS.ground);

function painted(bars: [start: number, stop: number, prefix: number, status?: number][], columns: number, height = 2): number[][] {
  const coverage = measured([laneOf(bars.map(([start, stop, prefix, status]) => ({ start, stop, prefix, status })))], lookAt(columns));
  const pixels = new Uint32Array(columns * (height + 2)).fill(7);
  paintBars(pixels, columns, { top: 1, height, ratio: 1 }, coverage, COLOURS);
  return Array.from({ length: height + 2 }, (_, y) => [...pixels.subarray(y * columns, (y + 1) * columns)]);
}

describe('bars', () => {
  it('are blended by exact coverage and stay in their rows', () => {
    const full = pack([10, 0, 100]);
    const half = mix(COLOURS.ground, [10, 0, 100], 0.5);
    const row = [full, half, GROUND];
    expect(painted([[0, 1.5, 1]], 3)).toEqual([[7, 7, 7], row, row, [7, 7, 7]]);
  });

  it('have an edge in their first whole column, darker than the bar on light ground, never a gap', () => {
    const [full, half, edge] = [pack([10, 0, 100]), mix(COLOURS.ground, [10, 0, 100], 0.5), mix([10, 0, 100], [0, 0, 0], 0.35)];
    expect(painted([[0.5, 6, 1], [6, 11, 1]], 11, 1)[1]).toEqual([half, edge, full, full, full, full, edge, full, full, full, full]);
  });

  it('what the pixels say is busy is what was busy, at any zoom', () => {
    let at = 0;
    const bars = Array.from({ length: 400 }, (_, i): [number, number, number] => {
      const start = at + ((i * 37) % 11) / 100;
      at = start + ((i * 53) % 17) / 50;
      return [start, at, 0];
    });
    const columns = Math.ceil(at);
    const busy = bars.reduce((sum, [start, stop]) => sum + stop - start, 0) / columns;
    const line = painted(bars, columns)[1] ?? [];
    // The red part goes from 200 (idle) to 0 (busy).
    const shown = line.reduce((sum, pixel) => sum + (200 - (pixel & 255)) / 200, 0) / columns;
    expect(Math.abs(shown - busy)).toBeLessThan(0.01);
  });

  it('a failure has stripes, interruption and loss have other patterns; what a person stopped has the colour of no failure', () => {
    const names = new Map([[pack(COLOURS.error), '#'], [pack(COLOURS.errorGap), '.'], [pack(COLOURS.stopped), 's'], [mix(COLOURS.ground, COLOURS.stopped, 0.25), '-']]);
    const pattern = (status: number): string[] =>
      painted([[0, 12, 1, status]], 12, 12).slice(1, -1).map(row => row.map(pixel => names.get(pixel) ?? '?').join(''));
    expect(pattern(1).slice(0, 3)).toEqual(['###...###...', '##...###...#', '#...###...##']);
    expect(pattern(2).slice(0, 4)).toEqual(['ssssssssssss', 'ssssssssssss', 'ssssssssssss', '------------']);
    expect(pattern(4)).toEqual(pattern(2));
    expect(new Set([1, 2, 3].map(status => pattern(status).join())).size).toBe(3);
  });

  it('bars above and below the image are cut, not drawn elsewhere', () => {
    const coverage = measured([undefined], lookAt(2));
    const pixels = new Uint32Array(6).fill(7);
    paintBars(pixels, 2, { top: -5, height: 6, ratio: 1 }, coverage, COLOURS);
    paintBars(pixels, 2, { top: 30, height: 6, ratio: 1 }, coverage, COLOURS);
    expect([...pixels]).toEqual([GROUND, GROUND, 7, 7, 7, 7]);
  });
});

it('a prefix in focus keeps its colour by its own part, all others take one shade', () => {
  const bars = ([[0, 0.5, 1], [0.5, 1, 2], [1, 2, 2], [2, 3, 1]] as const).map(([start, stop, prefix]) => ({ start, stop, prefix }));
  const coverage = measured([laneOf(bars)], lookAt(4, { filter: { hidden: null, focus: 1 } }));
  const pixels = new Uint32Array(4);
  paintBars(pixels, 4, { top: 0, height: 1, ratio: 1 }, coverage, { ...COLOURS, focus: 1 });
  const half = pack([200 - 0.5 * 80 - 0.5 * 190, 200 - 0.5 * 80 - 0.5 * 200, 200 - 0.5 * 80 - 0.5 * 100].map(Math.round) as [number, number, number]);
  expect([...pixels]).toEqual([half, pack([120, 120, 120]), pack([10, 0, 100]), GROUND]);
});

it('what is looked for keeps its colours by its own part, all else takes one shade, failures too', () => {
  const bars = [
    { start: 0, stop: 0.5, prefix: 1 }, { start: 0.5, stop: 1, prefix: 2 }, { start: 1, stop: 2, prefix: 2 }, { start: 2, stop: 3, prefix: 3 },
    { start: 3, stop: 4, prefix: 2, status: 1 }, { start: 4, stop: 5, prefix: 3, status: 1 }
  ];
  const [all, found] = [bars, [bars[0]!, bars[3]!, bars[5]!]].map(some => measured([laneOf(some)], lookAt(6)));
  const pixels = new Uint32Array(6);
  paintBars(pixels, 6, { top: 0, height: 1, ratio: 1 }, all!, COLOURS, found);
  const half = pack([200 - 0.5 * 80 - 0.5 * 190, 200 - 0.5 * 80 - 0.5 * 200, 200 - 0.5 * 80 - 0.5 * 100].map(Math.round) as [number, number, number]);
  const other = pack(COLOURS.other);
  expect([...pixels]).toEqual([half, other, pack([30, 0, 100]), other, pack(COLOURS.errorGap), GROUND]);
});

it('failures that drown among others are found with their kind, apart from each other', () => {
  const bars = Array.from({ length: 10 }, (_, c) => [
    { start: c, stop: c + 0.9 }, { start: c + 0.9, stop: c + 1, status: c === 2 || c === 3 ? 1 : c === 8 ? 2 : 0 }
  ]).flat();
  const coverage = measured([laneOf(bars)], lookAt(10));
  expect(lostFailures(coverage, 4)).toEqual([{ column: 2, kind: MARK.erred }, { column: 8, kind: MARK.interrupted }]);
});
