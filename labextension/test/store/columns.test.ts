// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { WorkerStore } from '../../src/store';
import { columnTable } from '../../src/store/columns';
import type { Sections } from '../../src/wire';
import { sectionOf, sectionsOf } from '../charts/small-batch';

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
