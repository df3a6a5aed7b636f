// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { countTouching, findTask, hitTask } from '../../../src/charts/tasks/find-task';
import { layoutLanes, sceneOf } from '../../../src/charts/tasks/scene';
import { Folding, LaneList } from '../../../src/charts/tasks/rows';
import { shownTime } from '../../../src/charts/timeline/time';
import { ALL_RUNS, LaneTasks, TaskStore } from '../../../src/store';
import { batchOf, storeWith } from '../../store/rows';
import { smallRun } from '../small-batch';

const ALL = { hidden: null, focus: -1 };
const HIDDEN = { hidden: Uint8Array.of(1), focus: -1 };

function laneOf(bars: [start: number, stop: number, run?: number][]): LaneTasks {
  const lane = new LaneTasks();
  bars.forEach(([start, stop, run = 0], row) => { lane.push(start, stop, 0, 0, 0, run, row); });
  lane.settle();
  return lane;
}

it('the task at a time is the innermost one, else the nearest in reach', () => {
  const lane = laneOf([[0, 10], [1, 2], [3, 4], [20, 21]]);
  expect([-0.5, 0, 1.5, 2.5, 3, 10.4, 19.6, 15, 21.4, 30].map(timeS => hitTask(lane, timeS, 0.5, null, ALL))).toEqual([
    0, 0, 1, 0, 2, 0, 3, null, 3, null
  ]);
});

it('tasks of other computes, and hidden ones, are passed over', () => {
  const lane = laneOf([[0, 1, 1], [0.5, 0.9, 2], [3, 4, 1]]);
  expect([1, 2].map(run => [0.6, 3.5].map(timeS => hitTask(lane, timeS, 0.1, [run, run], ALL)))).toEqual([[0, 2], [1, null]]);
  expect([hitTask(lane, 0.5, 0.1, null, HIDDEN), hitTask(laneOf([]), 1, 1, null, ALL), countTouching(laneOf([]), 0, 1, null, ALL)]).toEqual([null, null, 0]);
});

it('counts what shares a pixel', () => {
  const lane = laneOf([[0, 1], [1, 1.1], [1.1, 1.2], [5, 6]]);
  expect([countTouching(lane, 0.9, 1.15, null, ALL), countTouching(lane, 0.9, 1.15, [1, 1], ALL), countTouching(lane, 0.9, 1.15, null, HIDDEN)]).toEqual([3, 0, 0]);
});

describe('a place of the canvas', () => {
  const runs = [smallRun({ startS: 0, stopS: 10, status: 'finished' })];

  function finder(store: TaskStore, collapsed = false): (timeS: number, yPx: number) => ReturnType<typeof findTask> {
    const folding = new Folding();
    folding.setAll(collapsed);
    const lanes = new LaneList(store, folding);
    const scene = sceneOf(store, ALL_RUNS, shownTime(store, ALL_RUNS, { kind: 'fit' })!, (...of) => lanes.refresh(...of));
    const layout = layoutLanes(scene.rows, { plotLeftPx: 68, plotWidthPx: 1020, scrollPx: 0 });
    return (timeS, yPx) => findTask(store, scene, layout, { xPx: layout.plotLeftPx + (timeS / 10.2) * layout.plotWidthPx, yPx }, ALL);
  }

  it('leads to a task and what is known of it', () => {
    const store = storeWith(batchOf([{ start: 0, stop: 5, key: [1] }, { start: 2, stop: 4, lane: 1, group: 1, key: [2] }], { runs }));
    const at = finder(store);
    expect(at(3, 45)).toEqual({
      kind: 'ended',
      ref: { lane: 1, row: 1, startS: 2 },
      detail: {
        key: "('add-1', 2)", group: 'add-1', prefix: 'add', run: 0, startS: 2, stopS: 4,
        cpuS: null, sizeBytes: null, status: 'finished', observedBy: 'worker', error: null
      },
      label: 'thread 2',
      sharing: 1
    });
    expect([at(-0.5, 45), at(8, 45), at(3, 70)]).toEqual([null, null, null]);
  });

  it('leads to a task in flight where none has ended', () => {
    const store = new TaskStore({ clockMs: () => 0 });
    const task = { run: 0, lane: 0, group: 2, keyText: 'k', startS: 6 };
    store.append(batchOf([{ start: 0, stop: 5, key: [1] }], { runs: [smallRun()], running: [task], active: true, nowS: 10 }));
    const at = finder(store);
    const bar = { startS: 6, prefix: store.tables.prefixId('sum'), task };
    expect([at(8, 15), at(3, 15)?.kind, at(5.5, 15)]).toEqual([{ kind: 'open', bar, lane: 0, label: 'thread 1' }, 'ended', null]);
  });

  it('of a collapsed worker says how many of its lanes were busy', () => {
    const store = new TaskStore();
    const lanes = [0, 1, 2].map(id => ({ id, worker: id < 2 ? 'a' : 'b', thread: id, label: `thread ${id}` }));
    store.append(batchOf([{ start: 0, stop: 5 }, { start: 2, stop: 4, lane: 1 }, { start: 0, stop: 1, lane: 2 }], { runs, lanes }));
    const at = finder(store, true);
    const row = { kind: 'worker', worker: 'a', label: 'a', lanes: [0, 1], collapsed: true };
    const seen = [3, 4.5, 8].map(timeS => at(timeS, 15));
    expect(seen.map(found => (found?.kind === 'worker' ? [found.row, found.busyLanes, found.nTasks] : found))).toEqual([
      [row, 2, 2], [row, 1, 1], [row, 0, 0]
    ]);
  });
});
