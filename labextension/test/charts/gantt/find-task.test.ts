import { expect, it } from 'vitest';

import { findTask } from '../../../src/charts/gantt/find-task';
import { countTouching, hitTask } from '../../../src/charts/gantt/hit';
import { layoutGantt } from '../../../src/charts/gantt/layout';
import { sceneOf } from '../../../src/charts/gantt/model';
import { ALL_RUNS, LaneTasks, TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { smallRun } from '../small-batch';

function laneOf(bars: [start: number, stop: number, run?: number][]): LaneTasks {
  const lane = new LaneTasks();
  bars.forEach(([start, stop, run = 0], row) => {
    lane.push(start, stop, 0, 0, 0, run, row);
  });
  lane.settle();
  return lane;
}

it('the task at a time is the innermost one, else the nearest in reach', () => {
  const lane = laneOf([[0, 10], [1, 2], [3, 4], [20, 21]]);
  expect([-0.5, 0, 1.5, 2.5, 3, 10.4, 19.6, 15, 21.4, 30].map(timeS => hitTask(lane, timeS, 0.5, null))).toEqual([
    0, 0, 1, 0, 2, 0, 3, null, 3, null
  ]);
});

it('tasks of other computes are passed over', () => {
  const lane = laneOf([[0, 1, 1], [0.5, 0.9, 2], [3, 4, 1]]);
  expect([0.6, 3.5].map(timeS => hitTask(lane, timeS, 0.1, [1, 1]))).toEqual([0, 2]);
  expect([0.6, 3.5].map(timeS => hitTask(lane, timeS, 0.1, [2, 2]))).toEqual([1, null]);
});

it('an empty lane has nothing to hit', () => {
  expect([hitTask(laneOf([]), 1, 1, null), countTouching(laneOf([]), 0, 1)]).toEqual([null, 0]);
});

it('counts what shares a pixel', () => {
  const lane = laneOf([[0, 1], [1, 1.1], [1.1, 1.2], [5, 6]]);
  expect(countTouching(lane, 0.9, 1.15)).toBe(3);
});

it('a place of the canvas leads to a task and what is known of it', () => {
  const store = new TaskStore();
  const runs = [smallRun({ startS: 0, stopS: 10, status: 'finished' })];
  store.append(batchOf([{ start: 0, stop: 5, key: [1] }, { start: 2, stop: 4, lane: 1, group: 1, key: [2] }], { runs }));
  const scene = sceneOf(store, ALL_RUNS, { kind: 'fit' });
  expect(scene).not.toBeNull();
  const { lanes, span, zeroS } = scene!;
  const layout = layoutGantt({ widthPx: 1100, lanes, span, zeroS, scrollPx: 0 });
  const at = (xPx: number, yPx: number): ReturnType<typeof findTask> => findTask(store, scene!, layout, { xPx, yPx });
  expect(at(layout.plotLeftPx + 300, 45)).toEqual({
    ref: { lane: 1, row: 1, startS: 2 },
    detail: {
      key: "('add-1', 2)", group: 'add-1', prefix: 'add', run: 0, startS: 2, stopS: 4,
      cpuShare: null, sizeBytes: null, status: 'finished', observedBy: 'worker'
    },
    label: 'thread 2',
    sharing: 1
  });
  expect([at(10, 45), at(layout.plotLeftPx + 800, 45), at(layout.plotLeftPx + 300, 70)]).toEqual([null, null, null]);
});
