// @vitest-environment node
/** What a store forgets, and that nothing else changes by it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type TaskDetail, ALL_RUNS, LaneTasks, TaskStore } from '../../src/store';
import { KeyTable } from '../../src/store/tasks/key-table';
import { tupleKey } from '../../src/wire';
import { type SmallBatch, keyColumns, smallProgress, smallRun } from '../charts/small-batch';
import { type Row, batchOf, keyOf, storeWith } from './rows';

const SLACK = 65_536;

/** Task `i`: on lane i mod 3, every seventh one erred, keys of both kinds. */
function task(i: number): Row {
  return {
    lane: i % 3, start: i, stop: i + 0.5, group: i % 2, cpuS: i % 1000, nbytes: i % 1000,
    key: i % 5 === 0 ? `text ${i}` : [i],
    ...(i % 7 === 0 ? { status: 1, error: `E: ${i % 2}` } : {})
  };
}

function tasks(first: number, stop: number): Row[] {
  return Array.from({ length: stop - first }, (_, i) => task(first + i));
}

function feed(store: TaskStore, stop: number, step: number, more: (stop: number) => Partial<SmallBatch>): void {
  for (let first = 0, seq = 0; first < stop; first += step, seq += 1) {
    const end = Math.min(first + step, stop);
    store.append(batchOf(tasks(first, end), { seq, first, ...more(end) }));
  }
}

function details(store: TaskStore): (TaskDetail | null)[] {
  return store.laneIds.flatMap(id => Array.from({ length: store.lane(id)?.n ?? 0 }, (_, i) => store.detail(id, i)));
}

describe('a store', () => {
  it('keeps what the recorder keeps and a little more, exactly counted, with all that is known of it', () => {
    const store = new TaskStore();
    const n = SLACK + 3_000;
    feed(store, n, 10_000, end => ({ dropped: Math.max(end - 2_000, 0) }));
    const dropped = n - 2_000;
    expect([store.nTasks, store.missing, store.cursor]).toEqual([2_000, dropped, n]);
    const whole = storeWith(batchOf(tasks(dropped, n), { first: dropped, dropped }));
    expect(details(store)).toEqual(details(whole));
    expect(store.failures(ALL_RUNS).map(kind => kind.n).reduce((a, b) => a + b)).toBe(Math.ceil(n / 7));
  });

  it('forgets everything that the recorder was told to forget, at once', () => {
    const store = storeWith(batchOf(tasks(0, 10)));
    store.append(batchOf([], { seq: 1, first: 10, dropped: 10 }));
    expect([store.nTasks, store.missing, details(store)]).toEqual([0, 10, []]);
    store.append(batchOf(tasks(10, 12), { seq: 2, first: 10, dropped: 10 }));
    expect(details(store).map(detail => detail?.key)).toEqual(['text 10', "('add-1', 11)"]);
  });

  it('has a bound of its own, oldest first', () => {
    const store = new TaskStore();
    store.configure({ maxTasks: 1_000 });
    const n = 1_000 + SLACK;
    feed(store, n, 9_999, () => ({}));
    expect([store.nTasks, store.missing, store.lane(0)?.startS[0]]).toEqual([1_000, SLACK, n - 1_000 + 2]);
  });

  it('counts rows that never came and rows that went as missing alike', () => {
    const store = storeWith(batchOf(tasks(100, 110), { first: 100 }), { maxTasks: 1 });
    store.append(batchOf(tasks(200, 200 + SLACK), { seq: 1, first: 200, dropped: 200 }));
    expect([store.nTasks, store.missing, store.nTasks + store.missing]).toEqual([1, 199 + SLACK, 200 + SLACK]);
  });

  it('has computes that the kernel added up as one, without their own rows', () => {
    const store = new TaskStore();
    const runs = [0, 1, 2, 3].map(run => smallRun({ run, nTasks: 1 }));
    const progress = runs.map(({ run }) => smallProgress({ run, prefix: 'x', total: 1, finished: 1 }));
    store.append(batchOf([{ start: 0, stop: 1, status: 1, run: 1, error: 'E' }]));
    store.append(batchOf([], { seq: 1, runs, progress }));
    const sum = smallRun({ run: 0, nTasks: 3, nRuns: 3, lastRun: 2, computingS: 1.5 });
    store.append(batchOf([], { seq: 2, runs: [sum], progress: [smallProgress({ run: 0, prefix: 'x', total: 3, finished: 3 })] }));
    const { tables } = store;
    expect(tables.runsIn(ALL_RUNS)).toEqual([sum, runs[3]]);
    expect(tables.progressIn(ALL_RUNS).map(({ run, finished }) => [run, finished])).toEqual([[0, 3], [3, 1]]);
    expect(store.failures(ALL_RUNS)).toEqual([]);
  });
});

it('dropping rows of a lane is the same as never having had them', () => {
  const bars = fc.array(fc.tuple(fc.nat({ max: 50 }), fc.nat({ max: 30 })), { maxLength: 40 });
  fc.assert(
    fc.property(bars, fc.nat({ max: 45 }), (list, from) => {
      const [all, some] = [new LaneTasks(), new LaneTasks()];
      list.forEach(([start, length], row) => {
        for (const lane of row >= from ? [all, some] : [all]) {
          lane.push(start, start + length, row, row, row % 4, row, row);
        }
      });
      all.settle();
      some.settle();
      all.drop(from);
      const columns = ({ n, startS, stopS, reachS, group, prefix, flags, run, row }: LaneTasks): number[][] =>
        [startS, stopS, reachS, group, prefix, flags, run, row].map(column => [...column.subarray(0, n)]);
      expect(columns(all)).toEqual(columns(some));
      all.push(1, 2, 0, 0, 0, 0, 99);
      some.push(1, 2, 0, 0, 0, 0, 99);
      all.settle();
      some.settle();
      expect(columns(all)).toEqual(columns(some));
    }),
    { seed: 8, numRuns: 300 }
  );
});

it('gives back every key, however the rows were cut into batches, whatever was skipped and however often older ones are dropped', () => {
  const key = fc.oneof(
    fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 5 }), fc.array(fc.nat({ max: 9 }), { maxLength: 3 }),
    fc.string({ unit: 'grapheme', maxLength: 12 })
  );
  const steps = fc.array(fc.tuple(fc.array(key, { maxLength: 600 }), fc.nat({ max: 5 }), fc.nat({ max: 700 })), { maxLength: 6 });
  fc.assert(
    fc.property(steps, list => {
      const table = new KeyTable();
      const kept: (string | number[])[] = [];
      let first = 0;
      for (const [keys, wanted, gone] of list) {
        const skip = Math.min(wanted, keys.length);
        table.append(keyColumns(keys.map(keyOf)), skip);
        kept.push(...keys.slice(skip));
        first = Math.min(first + gone, kept.length);
        table.drop(first);
        expect(table.length).toBe(kept.length);
        // Forwards, and backwards with gaps.
        const rows = kept.slice(first).map((_, i) => first + i);
        for (const some of [rows, rows.toReversed().filter((_, i) => i % 3 !== 0)]) {
          expect(some.map(row => table.text(row, 'g'))).toEqual(some.map(row => (typeof kept[row] === 'string' ? kept[row] : tupleKey('g', kept[row] ?? []))));
        }
      }
    }),
    { seed: 6, numRuns: 120 }
  );
});
