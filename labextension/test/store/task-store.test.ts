// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { type ClusterStore, ALL_RUNS, TaskStore } from '../../src/store';
import { type SmallBatch, smallProgress, smallRun } from '../charts/small-batch';
import { type Row, batchOf, storeWith } from './rows';
import { Tables } from '../../src/store/tables';
import { heldColumns, resourceColumns } from './series';

/** The start times of each lane, as they are kept. */
function starts(store: TaskStore): Record<number, number[]> {
  return Object.fromEntries(
    store.laneIds.map(id => [id, [...(store.lane(id)?.startS.subarray(0, store.lane(id)?.n) ?? [])]])
  );
}

const task = (start: number, more: Partial<Row> = {}): Row => ({ start, stop: start + 0.5, ...more });

describe('rows', () => {
  it('a task says all that is known of it', () => {
    const store = storeWith(batchOf([
      { start: 1, stop: 3, lane: 1, group: 2, status: 1, scheduler: true, run: 4, cpuS: 1, nbytes: 123_456_789_012, key: [7, -1], error: 'ValueError: no' },
      { start: 4, stop: 4, lane: 1, key: 'text' }
    ]));
    expect([store.detail(1, 0), store.detail(1, 1), store.detail(1, 2), store.detail(0, 0)]).toEqual([
      {
        key: "('sum-1', 7, -1)", group: 'sum-1', prefix: 'sum', run: 4, startS: 1, stopS: 3,
        cpuS: 1, sizeBytes: Math.fround(123_456_789_012), status: 'erred', observedBy: 'scheduler', error: 'ValueError: no'
      },
      {
        key: 'text', group: 'inc-1', prefix: 'inc', run: 0, startS: 4, stopS: 4,
        cpuS: null, sizeBytes: null, status: 'finished', observedBy: 'worker', error: null
      },
      null,
      null
    ]);
  });

  it('are sorted by start in each lane, though they come by their end', () => {
    const store = storeWith(batchOf([task(2), task(1), task(9, { lane: 1 })]));
    store.append(batchOf([task(0), task(1.5), task(3)], { seq: 1, first: 3 }));
    expect(starts(store)).toEqual({ 0: [0, 1, 1.5, 2, 3], 1: [9] });
  });

  it('that came already are skipped, in whole batches and in part', () => {
    const store = new TaskStore();
    const keys = (n: number): Row[] => Array.from({ length: n }, (_, i) => task(i, { key: i % 2 === 0 ? [i] : `t${i}` }));
    store.append(batchOf(keys(3)));
    expect(store.append(batchOf(keys(3), { seq: 1 }))).toEqual({ kind: 'appended', rows: 0 });
    expect(store.append(batchOf(keys(6).slice(1), { seq: 2, first: 1 }))).toEqual({ kind: 'appended', rows: 3 });
    expect({ n: store.nTasks, cursor: store.cursor, keys: [0, 1, 2, 3, 4, 5].map(i => store.detail(0, i)?.key) }).toEqual({
      n: 6, cursor: 6, keys: ["('inc-1', 0)", 't1', "('inc-1', 2)", 't3', "('inc-1', 4)", 't5']
    });
  });
});

describe('lost messages', () => {
  it('are reported with the row to go on from, and nothing of what follows is taken over', () => {
    const store = storeWith(batchOf([task(0)]));
    const gap = { kind: 'gap', cursor: 1, reason: 'message 2 came where 1 was due' };
    expect(store.append(batchOf([task(9)], { seq: 2, first: 5 }))).toEqual(gap);
    expect([store.nTasks, store.cursor]).toEqual([1, 1]);
  });

  it('are healed by a stream that starts anew', () => {
    const store = storeWith(batchOf([task(0)]));
    store.append(batchOf([task(2)], { seq: 5, first: 2 }));
    expect(store.append(batchOf([task(1), task(2)], { seq: 0, first: 1 }))).toEqual({ kind: 'appended', rows: 2 });
    expect(starts(store)).toEqual({ 0: [0, 1, 2] });
  });

  it('rows that are not where they should be are a gap as well', () => {
    const store = storeWith(batchOf([task(0)]));
    expect(store.append(batchOf([task(3)], { seq: 1, first: 3 }))).toEqual({
      kind: 'gap', cursor: 1, reason: 'row 3 came where 1 was due'
    });
  });

  it('a group nobody announced is a gap, not a wrong name', () => {
    const store = storeWith(batchOf([task(0), task(1)]));
    expect(store.append(batchOf([task(2, { group: 9 })], { seq: 1, first: 2 }))).toEqual({
      kind: 'gap', cursor: 2, reason: 'group 9 is used but was never announced'
    });
    expect(store.nTasks).toBe(2);
  });

  it('any order, loss and repetition of messages ends with the rows that were sent', () => {
    const rows = Array.from({ length: 30 }, (_, i) => task((i * 7) % 30, { lane: i % 2, key: [i] }));
    const whole = storeWith(batchOf(rows));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 29 }), fc.nat({ max: 12 }), fc.boolean()), { maxLength: 12 }), steps => {
        const store = new TaskStore();
        let seq = 0;
        for (const [at, n, lost] of steps) {
          const first = Math.min(at, store.cursor);
          const batch = batchOf(rows.slice(first, first + n), { seq, first });
          seq += 1;
          if (!lost && store.append(batch).kind === 'gap') {
            seq = 0;
          }
        }
        store.append(batchOf(rows.slice(store.cursor), { seq: 0, first: store.cursor }));
        expect(starts(store)).toEqual(starts(whole));
        expect([0, 1].map(lane => Array.from({ length: 15 }, (_, i) => store.detail(lane, i)))).toEqual(
          [0, 1].map(lane => Array.from({ length: 15 }, (_, i) => whole.detail(lane, i)))
        );
      }),
      { seed: 11, numRuns: 200 }
    );
  });
});

describe('tables', () => {
  it('a new epoch starts from nothing', () => {
    const series = { resources: resourceColumns([{ at: 1 }]), held: heldColumns([{ at: 1, keys: 1 }]) };
    const store = storeWith(batchOf([task(0, { status: 1, error: 'a' })], { runs: [smallRun({ run: 3 })], ...series }));
    const counts = (): number[] => [store.failures(ALL_RUNS).length, store.resources.n, store.held.n];
    const before = counts();
    store.append(batchOf([task(7)], { epoch: 'r-2' }));
    expect([starts(store), [...store.tables.runs.keys()], store.epoch, before, counts()]).toEqual([{ 0: [7] }, [0], 'r-2', [1, 1, 1], [0, 0, 0]]);
  });

  it('progress of the computes in a runRange, newest numbers in the first order', () => {
    const store = new TaskStore();
    const [a0, b0, a2] = [smallProgress({ prefix: 'b' }), smallProgress({ prefix: 'a' }), smallProgress({ run: 2 })];
    store.append(batchOf([], { progress: [a2, a0, b0] }));
    store.append(batchOf([], { seq: 1, progress: [{ ...a0, finished: 5 }] }));
    expect(store.tables.progressIn({ firstRun: 0, lastRun: null })).toEqual([{ ...a0, finished: 5 }, b0, a2]);
    expect(store.tables.progressIn({ firstRun: 1, lastRun: 2 })).toEqual([a2]);
    expect(store.tables.progressIn({ firstRun: 0, lastRun: 0 })).toEqual([{ ...a0, finished: 5 }, b0]);
  });

  it('a repeated stream does not repeat remarks', () => {
    const store = new TaskStore();
    const batch: Partial<SmallBatch> = { remarks: [{ timeS: 1, level: 'info', text: 'one', worker: null, event: null }] };
    store.append(batchOf([], batch));
    store.append(batchOf([], { seq: 1, remarks: [{ timeS: 2, level: 'info', text: 'two', worker: null, event: null }] }));
    expect(store.tables.remarks.map(remark => remark.text)).toEqual(['one', 'two']);
    store.append(batchOf([], batch));
    expect(store.tables.remarks.map(remark => remark.text)).toEqual(['one']);
  });

  it('colours are those that prefixes have in the session; of old recordings, by first appearance', () => {
    const named = (colours: readonly (number | null)[]): string[] => {
      const store = new TaskStore();
      const groups = colours.map((colour, id) => ({ id, name: `${id}`, prefix: ['add', 'sum', 'inc'][id] ?? '', colour }));
      store.append(batchOf([], { groups }));
      return ['add', 'sum', 'inc'].map(prefix => store.colour(store.tables.prefixId(prefix)));
    };
    expect([named([2, 0, 21]), named([null, null, null])]).toEqual([['#a67f38', '#6887ff', '#4cd676'], ['#6887ff', '#4cd676', '#a67f38']]);
  });

  it('prefixes come in the order in which they began, those in flight by their tasks, and last those that have not', () => {
    const store = new TaskStore();
    const row = (prefix: string, firstS: number | null, running = 0): ReturnType<typeof smallProgress> => smallProgress({ prefix, firstS, running });
    store.append(batchOf([], {
      groups: ['inc', 'add'].map((prefix, id) => ({ id, name: prefix, prefix, colour: id })),
      progress: [row('later', null), row('inc', 5, 1), row('unseen', null, 1), row('add', null, 1), row('sum', 4), row('last', null)],
      running: [{ run: 0, lane: 0, group: 1, keyText: 'a', startS: 3 }, { run: 1, lane: 0, group: 0, keyText: 'b', startS: 1 }]
    }));
    expect(store.tables.progressIn(ALL_RUNS).map(({ prefix }) => prefix)).toEqual(['add', 'sum', 'inc', 'unseen', 'later', 'last']);
  });
});

describe('time', () => {
  const at = (): { store: TaskStore; pass: (ms: number) => void } => {
    let now = 0;
    return { store: new TaskStore({ clockMs: () => now }), pass: ms => (now += ms) };
  };

  it('goes on between messages while a compute runs, and stands still after', () => {
    const { store, pass } = at();
    store.append(batchOf([], { nowS: 100, active: true }));
    pass(500);
    expect(store.clock.nowS()).toBe(100.5);
    store.append(batchOf([], { seq: 1, nowS: 100.75, active: false }));
    pass(5000);
    expect(store.clock.nowS()).toBe(100.75);
  });

  it('a late message does not set it back, a jump does', () => {
    const { store, pass } = at();
    store.append(batchOf([], { nowS: 100 }));
    pass(1000);
    store.append(batchOf([], { seq: 1, nowS: 100.9 }));
    expect(store.clock.nowS()).toBe(101);
    store.append(batchOf([], { seq: 2, nowS: 50 }));
    expect(store.clock.nowS()).toBe(50);
  });

  it('freezes when the kernel is gone', () => {
    const { store, pass } = at();
    store.append(batchOf([], { nowS: 100 }));
    pass(250);
    store.freeze();
    pass(1000);
    expect([store.clock.nowS(), store.clock.active]).toEqual([100.25, false]);
  });
});

it('listeners hear of each change until their signal aborts', () => {
  const store = new TaskStore();
  const controller = new AbortController();
  const heard = vi.fn();
  store.subscribe(heard, controller.signal);
  store.append(batchOf([]));
  controller.abort();
  store.append(batchOf([], { seq: 1 }));
  store.subscribe(heard, controller.signal);
  expect([heard.mock.calls.length, store.listenerCount]).toEqual([1, 0]);
});

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
  it('a message without a time leaves the clock alone', () => {
    const store = storeWith(batchOf([], { nowS: 10, active: false }), { clockMs: () => 0 });
    store.append(batchOf([], { seq: 1, nowS: null, active: true }));
    expect([store.clock.nowS(), store.clock.active]).toEqual([10, false]);
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
