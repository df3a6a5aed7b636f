// @vitest-environment node
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';

import { type Measure, ALL_RUNS, HeldMoments, HeldStore, LatestMoments, ResourceStore } from '../../src/store';
import { WorkerStore } from '../../src/store/cluster/cluster-store';
import { sectionOf, sectionsOf } from '../charts/small-batch';
import { type HeldRow, heldColumns, resourceColumns } from './series';
import { columnTable } from '../../src/store/columns';
import type { Sections } from '../../src/wire';

describe('samples', () => {
  it('are taken over once, however often they are sent', () => {
    const store = new ResourceStore();
    store.take(resourceColumns([{ at: 1 }, { at: 2 }]));
    const { version } = store;
    store.take(resourceColumns([{ at: 1 }, { at: 2 }]));
    expect([store.n, store.version]).toEqual([2, version]);
    store.take(resourceColumns([{ at: 2 }, { at: 3, cpu: 50 }], { first: 1 }));
    expect([[...store.timeS.subarray(0, store.n)], store.cpuPercent[2]]).toEqual([[1, 2, 3], 50]);
    expect(store.within({ startS: 2, stopS: 9 })).toEqual([1, 3]);
  });

  it('beyond half a million lose their oldest tenth', () => {
    const store = new ResourceStore();
    const many = resourceColumns(Array.from({ length: 500_000 }, (_, i) => ({ at: i })));
    store.take(many);
    store.take(resourceColumns([{ at: 500_000 }], { first: 500_000 }));
    expect([store.n, store.timeS[0], store.timeS[store.n - 1]]).toEqual([450_001, 50_000, 500_000]);
  });
});

/** Every moment as [time, total, unknown, groups]. */
function moments(rows: readonly HeldRow[], measure: Measure, runRange = ALL_RUNS): unknown[] {
  const store = new HeldStore();
  store.take(heldColumns(rows));
  const found = new HeldMoments(store, runRange, measure);
  return Array.from({ length: found.n }, (_, m) => [found.timeS[m], found.total[m], found.unknown[m], [...found.groupsAt(m)]]);
}

describe('what was held', () => {
  const ROWS: HeldRow[] = [
    { at: 1, group: 0, keys: 1, bytes: 10 },
    { at: 2, group: 0, keys: 2, bytes: 15, unsized: 1 },
    { at: 2, group: 1, keys: 1, bytes: 7 },
    { at: 3, group: 0, keys: 0 }
  ];

  it('adds up group by group, moment by moment', () => {
    expect(moments(ROWS, 'bytes')).toEqual([
      [1, 10, 0, [10, 0]],
      [2, 22, 1, [15, 7]],
      [3, 7, 0, [0, 7]]
    ]);
    expect(moments(ROWS, 'count').map(m => (m as number[])[1])).toEqual([1, 3, 1]);
  });

  it('is read on while it is of the same, and anew of another runRange, measure or store', () => {
    const [store, latest] = [new HeldStore(), new LatestMoments()];
    store.take(heldColumns(ROWS.slice(0, 2)));
    const first = latest.of(store, ALL_RUNS, 'bytes');
    const before = [...first.total.subarray(0, first.n)];
    store.take(heldColumns(ROWS.slice(2), { first: 2 }));
    // A window is the same where its ends are.
    const again = latest.of(store, { ...ALL_RUNS }, 'bytes');
    expect([again === first, again.restarts, before, [...again.total.subarray(0, again.n)]]).toEqual([true, 1, [10, 15], [10, 22, 7]]);
    const others = [[store, { firstRun: 1, lastRun: 1 }, 'bytes'], [store, ALL_RUNS, 'count'], [new HeldStore(), ALL_RUNS, 'count']] as const;
    expect(others.map(([held, runRange, measure]) => latest.of(held, runRange, measure)).map(({ total, n }) => [...total.subarray(0, n)])).toEqual([[], [1, 3, 1], []]);
  });

  it('of computes at the same time is their sum, in order of time whatever order they came in', () => {
    const rows = [
      { at: 1, run: 0, keys: 1, bytes: 10 }, { at: 5, run: 0, keys: 0 },
      { at: 2, run: 1, keys: 1, bytes: 4 }, { at: 6, run: 1, keys: 0 }
    ];
    expect(moments(rows, 'bytes').map(m => (m as number[]).slice(0, 2))).toEqual([[1, 10], [2, 14], [5, 4], [6, 0]]);
    expect(moments(rows, 'bytes', { firstRun: 1, lastRun: 1 }).map(m => (m as number[])[1])).toEqual([4, 0]);
  });

  it('in a metric counts the keys that it gave nothing for', () => {
    const rows = [{ at: 1, keys: 3, value: 2.5, unvalued: 1 }, { at: 2, keys: 0, value: 0, unvalued: 0 }];
    expect(moments(rows, 'metric')).toEqual([[1, 2.5, 1, [2.5]], [2, 0, 0, [0]]]);
  });

  it('goes oldest first beyond what a recorder keeps, but for what still holds', () => {
    const store = new HeldStore();
    // Group 0 is held from the first row on, group 1 comes and goes with each row.
    const many: HeldRow[] = Array.from({ length: 299_999 }, (_, i) => ({ at: i + 1, group: 1, keys: (i + 1) % 2, bytes: ((i + 1) % 2) * 3 }));
    store.take(heldColumns([{ at: 0, group: 0, keys: 1, bytes: 10 }, ...many]));
    expect(store.n).toBe(300_000);
    store.take(heldColumns([{ at: 300_000, group: 1, keys: 1, bytes: 3 }], { first: 300_000 }));
    expect([store.n, [...store.timeS.subarray(0, 3)]]).toEqual([270_003, [0, 29_999, 30_000]]);
    const { total, n } = new HeldMoments(store, ALL_RUNS, 'bytes');
    expect([[...total.subarray(0, 4)], n]).toEqual([[10, 13, 10, 13], 270_003]);
  });
});

it('workers that say nothing new change nothing', () => {
  const store = new WorkerStore();
  store.append(sectionsOf({ workers: sectionOf('workers', [{ worker: 0, address: 'tcp://a', name: 'a', nThreads: 2 }]) }));
  const { version } = store;
  store.append(sectionsOf());
  expect([version, store.version]).toEqual([1, 1]);
});

const Table = columnTable({ time: Float64Array, lane: Uint8Array });

function rows({ n, time, lane }: InstanceType<typeof Table>): [number, number][] {
  return Array.from({ length: n }, (_, i) => [time[i] as number, lane[i] as number]);
}

describe('a table of columns', () => {
  it('is a list of rows to which rows are added, and from which rows are dropped, picked and sorted', () => {
    const row = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 255 }));
    const step = fc.oneof(
      fc.record({ add: fc.array(row, { maxLength: 100 }), skip: fc.nat(3) }),
      fc.record({ drop: fc.nat(80) }),
      fc.record({ keep: fc.infiniteStream(fc.boolean()) }),
      fc.record({ sortFrom: fc.nat(80) })
    );
    fc.assert(fc.property(fc.array(step), steps => {
      const table = new Table();
      let expected: [number, number][] = [];
      for (const one of steps) {
        if ('add' in one) {
          const skip = Math.min(one.skip, one.add.length);
          table.add({ time: one.add.map(([time]) => time), lane: one.add.map(([, lane]) => lane) }, skip, one.add.length);
          expected = [...expected, ...one.add.slice(skip)];
        } else if ('drop' in one) {
          const count = Math.min(one.drop, table.n);
          table.dropFirst(count);
          expected = expected.slice(count);
        } else if ('keep' in one) {
          const kept = expected.map((_, i) => i).filter(() => one.keep.next().value);
          table.keep(kept);
          expected = kept.map(i => expected[i] as [number, number]);
        } else {
          const from = Math.min(one.sortFrom, table.n);
          table.sort(table.time, from);
          expected = [...expected.slice(0, from), ...expected.slice(from).sort(([a], [b]) => a - b)];
        }
        expect(rows(table)).toEqual(expected);
      }
    }));
  });

  it('has 0 in columns of which nothing is said', () => {
    const table = new Table();
    table.add({ time: [1, 2], lane: [7, 8] }, 0, 2);
    table.dropFirst(2);
    table.add({ time: [3] }, 0, 1);
    expect(rows(table)).toEqual([[3, 0]]);
  });
});

function workerColumns(samples: readonly (readonly [worker: number, timeS: number])[], first: number): Sections {
  const rows = samples.map(([worker, timeS], i) => ({
    worker, timeS, tickS: worker === 1 && timeS < 0.1 ? null : worker / 100, nThreads: worker === 3 ? 0 : 2, nExecuting: worker,
    cpuPercent: i + first, rssBytes: 1, managedBytes: 2, spilledBytes: 3, limitBytes: 4
  }));
  return sectionsOf({ worker_samples: sectionOf('worker_samples', rows, first) });
}

function totals(store: WorkerStore): unknown {
  const { n, timeS, nWorkers, cpuPercent, nExecuting, tickS } = store.series(null);
  return [timeS, nWorkers, cpuPercent, nExecuting, tickS].map(column => [...column.subarray(0, n)]);
}

describe('all workers together', () => {
  it('are the same however often they were looked at while samples came', () => {
    const sample = fc.tuple(fc.nat(3), fc.integer({ min: 0, max: 300 }).map(n => n / 20));
    fc.assert(fc.property(fc.array(fc.array(sample, { maxLength: 6 }), { maxLength: 12 }), fc.boolean(), (parts, sorted) => {
      const all = parts.flat();
      const inOrder = sorted ? all.sort((a, b) => a[1] - b[1]) : all;
      const [looked, once] = [new WorkerStore(), new WorkerStore()];
      let first = 0;
      for (const { length } of parts) {
        looked.append(workerColumns(inOrder.slice(first, first + length), first));
        totals(looked);
        first += length;
      }
      once.append(workerColumns(inOrder, 0));
      expect(totals(looked)).toEqual(totals(once));
    }));
  });

  it('are what each of them said last', () => {
    const store = new WorkerStore();
    store.append(workerColumns([[0, 0], [1, 0.05], [0, 0.3]], 0));
    expect(totals(store)).toEqual([[0.05, 0.3], [2, 2], [1, 3], [1, 1], [0, 0]]);
    store.append(workerColumns([[1, 0.35], [3, 20]], 3));
    expect(totals(store)).toEqual([[0.05, 0.35, 20], [2, 2, 0], [1, 5, 0], [1, 1, 0], [0, 0.01, NaN]]);
  });
});
