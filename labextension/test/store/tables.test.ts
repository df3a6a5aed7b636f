// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import { type ClusterStore, ALL_RUNS, TaskStore } from '../../src/store';
import { Tables } from '../../src/store/tables';
import { smallRun } from '../charts/small-batch';
import { batchOf } from './rows';

describe('tables', () => {

  it('computes of a runRange come by their number, whatever came first', () => {
    const tables = new Tables();
    tables.merge(batchOf([], { runs: [3, 1, 0, 2].map(run => smallRun({ run })) }).tables);
    expect(tables.runsIn({ firstRun: 1, lastRun: 2 }).map(run => run.run)).toEqual([1, 2]);
    expect(tables.runsIn(ALL_RUNS).map(run => run.run)).toEqual([0, 1, 2, 3]);
  });

  it('the newest thousand remarks are kept', () => {
    const tables = new Tables();
    const remarks = Array.from({ length: 1001 }, (_, i) => ({ timeS: i, level: 'info' as const, text: `${i}`, worker: null, event: null }));
    tables.merge(batchOf([], { seq: 1, remarks }).tables);
    expect(tables.remarks).toEqual(remarks.slice(1));
    const before = tables.remarks;
    tables.merge(batchOf([], { seq: 2 }).tables);
    expect(tables.remarks).toBe(before);
  });
});

describe('a store', () => {
  it('holds as many tasks as it is told to', () => {
    const store = new TaskStore();
    // Old rows go when there are very many of them.
    const rows = Array.from({ length: 70_000 }, (_, i) => ({ start: i, stop: i + 1 }));
    store.append(batchOf(rows));
    store.configure({ maxTasks: 1_000 });
    store.append(batchOf([], { seq: 1, first: 70_000 }));
    expect(store.nTasks).toBe(1_000);
  });

  it('has keys as they were: names with integers, or text', () => {
    const store = new TaskStore();
    store.append(batchOf([{ start: 0, stop: 1, key: [4] }, { start: 1, stop: 2, key: 'é' }]));
    expect([store.keyText(0, 0), store.keyText(1, 0), store.textKey(0), store.textKey(1)]).toEqual(["('inc-1', 4)", 'é', null, 'é']);
  });

  it('knows lanes by their number, also where lower ones have no task', () => {
    const store = new TaskStore();
    store.append(batchOf([{ start: 0, stop: 1, lane: 1 }]));
    expect([store.laneIds, store.detail(0, 0), store.detail(1, -1), store.detail(1, 0)?.startS]).toEqual([[1], null, null, 0]);
  });

  it('says which lane a failed task was on', () => {
    const store = new TaskStore();
    store.append(batchOf([{ start: 2, stop: 3, lane: 1, status: 1, error: 'no', key: [1] }]));
    expect(store.failures(ALL_RUNS).map(kind => kind.first)).toEqual([{ row: 0, lane: 1, startS: 2, key: "('inc-1', 1)" }]);
  });

  it('a message without a time leaves the clock alone', () => {
    const store = new TaskStore({ clockMs: () => 0 });
    store.append(batchOf([], { nowS: 10, active: false }));
    store.append(batchOf([], { seq: 1, nowS: null, active: true }));
    expect([store.clock.nowS(), store.clock.active]).toEqual([10, false]);
  });

  it('asked again it takes what there still is, and counts what is not', () => {
    const store = new TaskStore();
    expect(store.append(batchOf([{ start: 5, stop: 6 }], { first: 5 }))).toEqual({ kind: 'appended', rows: 1 });
    expect([store.missing, store.cursor]).toEqual([5, 6]);
  });

  it('after a group that nobody announced goes on from the rows it has', () => {
    const store = new TaskStore();
    store.append(batchOf([{ start: 0, stop: 1 }, { start: 1, stop: 2 }]));
    expect(store.append(batchOf([{ start: 2, stop: 3, group: 9 }], { seq: 1, first: 2 }))).toEqual({
      kind: 'gap', cursor: 2, reason: 'group 9 is used but was never announced'
    });
  });

  it('of a cluster keeps what only clusters have', () => {
    const append = vi.fn();
    const clear = vi.fn();
    const store = new TaskStore({ cluster: { append, clear } as unknown as ClusterStore });
    const batch = batchOf([]);
    store.append(batch);
    expect([append.mock.calls, clear.mock.calls.length]).toEqual([[[batch.tables]], 1]);
    expect(() => new TaskStore().append(batch)).not.toThrow();
  });
});
