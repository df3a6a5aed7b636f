// @vitest-environment node
import { expect, it } from 'vitest';

import { type LaneLabel, type Row, Folding, inOrder, isFolded, rowOfLane, rowsOf } from '../../../src/charts/tasks/rows';

function lanes(...perWorker: number[]): LaneLabel[] {
  let id = 0;
  return perWorker.flatMap((n, worker) => Array.from({ length: n }, () => ({ id: id++, label: `t${id}`, worker: `w${worker}` })));
}

const shown = (rows: readonly Row[]): string[] => rows.map(row => (row.kind === 'lane' ? `${row.inset ? '  ' : ''}${row.id}` : `${row.collapsed ? '▸' : '▾'} ${row.label} ${row.lanes.join()}`));

it('workers head their lanes; one with a single lane is that lane, the only one with few lanes needs no row of its own, local ones are processes', () => {
  expect(shown(rowsOf(lanes(3), new Folding()))).toEqual(['0', '1', '2']);
  expect(shown(rowsOf(lanes(2, 1), new Folding()))).toEqual(['▾ w0 0,1', '  0', '  1', '2']);
  const local = [0, 1, 2].map(id => ({ id, label: 'x', worker: id < 2 ? '4711' : 'tcp://a:1' }));
  expect(shown(rowsOf(local, new Folding()))[0]).toBe('▾ process 4711 0,1');
});

it('many lanes of several workers begin collapsed, those of a single one open', () => {
  expect([rowsOf(lanes(...Array<number>(125).fill(4)), new Folding()).length, rowsOf(lanes(500), new Folding()).length]).toEqual([125, 501]);
});

it('a worker is collapsed alone or with all others', () => {
  const folding = new Folding();
  folding.set('w1', true);
  const one = rowsOf(lanes(2, 2), folding);
  folding.setAll(true);
  const all = rowsOf(lanes(2, 2), folding);
  folding.set('w0', false);
  expect([shown(one), shown(all), shown(rowsOf(lanes(2, 2), folding)), isFolded(one), isFolded(all), isFolded(rowsOf(lanes(2), folding))]).toEqual([
    ['▾ w0 0,1', '  0', '  1', '▸ w1 2,3'], ['▸ w0 0,1', '▸ w1 2,3'], ['▾ w0 0,1', '  0', '  1', '▸ w1 2,3'], false, true, false
  ]);
});

it('a lane is found in its own row, else in that of its worker', () => {
  const folding = new Folding();
  folding.set('w1', true);
  const rows = rowsOf(lanes(2, 2), folding);
  expect([0, 1, 2, 3, 9].map(lane => rowOfLane(rows, lane))).toEqual([1, 2, 3, 3, -1]);
});

it('names that differ in numbers only stand in the order of these, others as they appeared', () => {
  const labels = ['worker 1, thread 2', 'scheduler', 'worker 1, thread 10', 'worker a, thread 1', 'worker 0, thread 3', 'worker 1, thread 1'];
  const lanes = labels.map((label, id) => ({ id, label, worker: '' }));
  expect(inOrder(lanes).map(lane => lane.label)).toEqual([
    'worker 0, thread 3', 'worker 1, thread 1', 'worker 1, thread 2', 'worker 1, thread 10', 'scheduler', 'worker a, thread 1'
  ]);
});

it('a lane below the row of its worker does not name the worker again, and the only one of a worker is called as it is', () => {
  const lanes = ['worker 0, thread 1', 'worker 0, thread 2', 'worker 1, thread 1'].map((label, id) => ({ id, label, worker: label.slice(0, 8) }));
  expect(rowsOf(lanes, new Folding()).map(row => row.label)).toEqual(['worker 0', 'thread 1', 'thread 2', 'worker 1']);
});
