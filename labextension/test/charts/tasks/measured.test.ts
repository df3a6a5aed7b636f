// @vitest-environment node
/** What was measured is used again, and never shown for what it is not. */
import { describe, expect, it } from 'vitest';

import { MeasuredRows } from '../../../src/charts/tasks/measured';
import type { Row } from '../../../src/charts/tasks/rows';
import { type CoverageColumns, type CoverageQuery, TaskStore } from '../../../src/store';
import { lookAt } from '../../store/measured';
import { batchOf } from '../../store/rows';

const LANE: Row = { kind: 'lane', id: 0, label: 'thread 1', inset: false };
const WORKER: Row = { kind: 'worker', worker: 'main', label: 'main', lanes: [0, 1], collapsed: true };
const ROWS: readonly Row[] = [LANE, WORKER, { ...WORKER, worker: 'open', collapsed: false }];
const tasks = (from: number, to: number): Parameters<typeof batchOf>[0] =>
  Array.from({ length: to - from }, (_, i) => ({ start: from + i + (i % 3) / 5, stop: from + i + 0.7, lane: i % 2, group: i % 3, key: [from + i] }));

/** Rows of a store, measured by a clock that says that each row takes `rowMs`. */
class Bench {
  readonly store = new TaskStore();
  readonly rows: MeasuredRows;
  nowMs = 0;
  open = new Map<number, { startS: number; prefix: number }[]>();
  constructor(rowMs: number) {
    this.rows = new MeasuredRows(() => (this.nowMs += rowMs));
    this.store.append(batchOf(tasks(0, 100)));
  }
  measure(startS: number, stopS: number, more: Partial<CoverageQuery> = {}): number[][] {
    return columnsOf(this.rows.measure(this.store, { open: this.open as never }, ROWS, lookAt(20, { span: { startS, stopS }, ...more })));
  }
  /** The same by rows that know nothing, and whose clock stands still: a busy machine must not make them late. */
  anew(startS: number, stopS: number, more: Partial<CoverageQuery> = {}): number[][] {
    const query = lookAt(20, { span: { startS, stopS }, ...more });
    return columnsOf(new MeasuredRows(() => 0).measure(this.store, { open: this.open as never }, ROWS, query));
  }
}

function columnsOf(measured: readonly (CoverageColumns | null)[]): number[][] {
  return measured.map(row => (row === null ? [] : [...row.cover, ...row.focus, ...row.bad].map(x => Math.round(x * 1e5)).concat([...row.prefix, ...row.marks])));
}

it('rows that are measured in time: are exact wherever a person goes, and whatever comes', () => {
  const bench = new Bench(1);
  const go = (startS: number, stopS: number, more: Partial<CoverageQuery> = {}): void => {
    expect(bench.measure(startS, stopS, more)).toEqual(bench.anew(startS, stopS, more));
    expect(bench.rows.isApproximate).toBe(false);
  };
  go(0, 20);
  go(0, 20);
  go(3, 23);
  go(1, 21);
  go(1.3, 21.3);
  go(1.3, 15);
  go(1.3, 15, { filter: { hidden: null, focus: 1 } });
  go(1.3, 15, { filter: { hidden: Uint8Array.of(0, 1, 0), focus: -1 } });
  go(50, 70);
  bench.open = new Map([[0, [{ startS: 60, prefix: 2 }]]]);
  go(50, 70, { nowS: 63 });
  go(50, 70, { nowS: 65 });
  bench.open = new Map();
  bench.store.append(batchOf(tasks(100, 120), { seq: 1, first: 100 }));
  go(90, 110);
  go(95, 115);
  bench.store.append(batchOf(tasks(40, 60), { epoch: 'another' }));
  go(95, 115);
});

describe('rows that together take longer than a frame of a gesture may', () => {
  it('are stretched while a person moves, and exact when nothing moves', () => {
    const bench = new Bench(5);
    expect(bench.measure(0, 20)).toEqual(bench.anew(0, 20));
    bench.measure(1.3, 15);
    expect(bench.rows.isApproximate).toBe(true);
    expect(bench.measure(1.3, 15)).toEqual(bench.anew(1.3, 15));
    expect(bench.rows.isApproximate).toBe(false);
  });

  it('are exact where a person moved by whole columns, and beyond what was in filter', () => {
    const bench = new Bench(5);
    bench.measure(0, 20);
    expect(bench.measure(5, 25)).toEqual(bench.anew(5, 25));
    expect(bench.rows.isApproximate).toBe(false);
    bench.measure(4.5, 30.5);
    expect(bench.rows.isApproximate).toBe(true);
    expect(bench.measure(60, 80)).toEqual(bench.anew(60, 80));
    expect(bench.rows.isApproximate).toBe(false);
  });

  it('leave new tasks out for half a second at most', () => {
    const bench = new Bench(5);
    bench.measure(80, 100);
    bench.store.append(batchOf(tasks(100, 120), { seq: 1, first: 100 }));
    bench.nowMs = 499;
    bench.measure(79.5, 100.5);
    expect(bench.rows.isApproximate).toBe(true);
    bench.nowMs = 510;
    expect(bench.measure(79.2, 100.9)).toEqual(bench.anew(79.2, 100.9));
    expect(bench.rows.isApproximate).toBe(false);
  });
});

describe('rows that take longer than a frame each', () => {
  it('are measured one in each frame, and until then show what was measured before', () => {
    const bench = new Bench(50);
    const focused = { filter: { hidden: null, focus: 1 } };
    const nothing = (columns: number): number[] => [...Array<number>(3 * columns).fill(0), ...Array<number>(columns).fill(65_535), ...Array<number>(columns).fill(0)];
    const [lane, worker] = bench.anew(0, 20);
    const [laneFocused, workerFocused] = bench.anew(0, 20, focused);
    const shown = [bench.measure(0, 20), bench.rows.rowsPending, bench.measure(0, 20), bench.rows.rowsPending];
    expect(shown).toEqual([[lane, nothing(20), []], 1, [lane, worker, []], 0]);
    const next = [bench.measure(0, 20, focused), bench.rows.isApproximate, bench.measure(0, 20, focused), bench.rows.isApproximate];
    expect(next).toEqual([[laneFocused, worker, []], true, [laneFocused, workerFocused, []], false]);
  });

  it('take turns while tasks come', () => {
    const bench = new Bench(50);
    const exact = [1, 2, 3, 4].map(seq => {
      bench.store.append(batchOf(tasks(100 + seq, 101 + seq), { seq, first: 99 + seq }));
      const [shown, anew] = [bench.measure(80, 110), bench.anew(80, 110)];
      return shown.map((row, i) => JSON.stringify(row) === JSON.stringify(anew[i]));
    });
    expect(exact).toEqual([[true, false, true], [false, true, true], [true, false, true], [false, true, true]]);
  });

  it('of another recording are not shown', () => {
    const bench = new Bench(50);
    bench.measure(0, 20);
    bench.measure(0, 20);
    bench.store.append(batchOf([], { epoch: 'another' }));
    expect(bench.measure(0, 20)[1]?.slice(0, 60)).toEqual(Array<number>(60).fill(0));
  });
});
