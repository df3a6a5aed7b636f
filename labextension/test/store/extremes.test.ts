// @vitest-environment node
/** Recordings at the edges of what there can be: still exact, and nothing throws. */
import { describe, expect, it } from 'vitest';

import type { Coverage } from '../../src/store';
import { ALL_RUNS, NO_PREFIX, TaskStore } from '../../src/store';
import { smallProgress } from '../charts/small-batch';
import { lookAt, measured as measuredLanes } from './measured';
import { batchOf } from './rows';

const DAY_S = 86_400;

function measured(store: TaskStore, lane: number, startS: number, stopS: number, columns: number): Coverage {
  return measuredLanes([store.lane(lane)], lookAt(columns, { span: { startS, stopS }, nPrefixes: store.tables.prefixes.length }));
}

describe('durations', () => {
  it('of three days and of nothing stand side by side', () => {
    const store = new TaskStore();
    store.append(batchOf([
      { start: DAY_S, stop: DAY_S, group: 1 },
      { start: 5 * DAY_S, stop: 5 * DAY_S, group: 2 },
      { start: 0, stop: 3 * DAY_S }
    ]));
    const { cover, prefix } = measured(store, 0, 0, 6 * DAY_S, 6);
    expect([[...cover], [...prefix]]).toEqual([[1, 1, 1, 0, 0, 0], [0, 0, 0, NO_PREFIX, NO_PREFIX, 2]]);
    const inside = measured(store, 0, DAY_S - 1, DAY_S + 1, 2);
    expect([[...inside.cover], [...inside.prefix]]).toEqual([[1, 1], [0, 0]]);
  });
});

describe('clocks that step back', () => {
  it('leave tasks sorted, and the present where the kernel says it is', () => {
    let now = 0;
    const store = new TaskStore({ clockMs: () => now });
    store.append(batchOf([{ start: 1_000, stop: 1_001 }], { nowS: 1_001 }));
    now += 100;
    store.append(batchOf([{ start: 10, stop: 11, key: [1] }, { start: -3, stop: -2, key: [2] }], { seq: 1, first: 1, nowS: 11 }));
    expect([store.detail(0, 0), store.detail(0, 1), store.detail(0, 2)].map(task => [task?.startS, task?.stopS])).toEqual([
      [-3, -2], [10, 11], [1_000, 1_001]
    ]);
    expect(store.clock.nowS()).toBe(11);
  });
});

describe('numbers of lanes and groups', () => {
  it('five thousand lanes have one task each, and each knows it', () => {
    const store = new TaskStore();
    const n = 5_000;
    store.append(batchOf(Array.from({ length: n }, (_, i) => ({ lane: i, start: i, stop: i + 1, key: [i] })), {
      lanes: Array.from({ length: n }, (_, id) => ({ id, worker: `w${id % 50}`, thread: id, label: `thread ${id}` }))
    }));
    expect([store.nTasks, store.laneIds.length, store.tables.lanes[n - 1]?.label, store.detail(n - 1, 0)?.key]).toEqual([
      n, n, 'thread 4999', "('inc-1', 4999)"
    ]);
    expect([...measured(store, 4_999, 4_998, 5_001, 3).cover]).toEqual([0, 1, 0]);
  });

  it('two thousand groups keep their names, and each column has the one that took most of it', () => {
    const store = new TaskStore();
    const n = 2_000;
    store.append(batchOf(Array.from({ length: 2 * n }, (_, i) => ({ group: i >> 1, start: i / 2, stop: i / 2 + 0.25 * (1 + (i & 1)), key: [i] })), {
      groups: Array.from({ length: n }, (_, id) => ({ id, name: `g${id}-1`, prefix: `g${id}`, colour: id })),
      progress: Array.from({ length: n }, (_, i) => smallProgress({ prefix: `g${i}`, total: 2, finished: 2 }))
    }));
    const { cover, prefix } = measured(store, 0, 0, n, n);
    expect([[...prefix], new Set(cover)]).toEqual([Array.from({ length: n }, (_, i) => i), new Set([0.75])]);
    expect([store.tables.progressIn(ALL_RUNS).length, store.detail(0, 3_999)?.key]).toEqual([n, "('g1999-1', 3999)"]);
  });

  it('a recording of nothing has nothing', () => {
    const store = new TaskStore();
    store.append(batchOf([]));
    expect([store.nTasks, store.laneIds, store.missing, store.failures(ALL_RUNS), store.detail(0, 0)]).toEqual([0, [], 0, [], null]);
  });
});
