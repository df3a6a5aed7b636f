// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MeasureWords } from '../../../src/charts/values/cache';
import { type HeldSummary, HeldStacks, byPrefix, metricName, summariseHeld } from '../../../src/charts/values/held';
import { type Measure, ALL_RUNS, HeldMoments, TaskStore } from '../../../src/store';
import { type Held, type HeldRow, heldColumns } from '../../store/series';
import { smallBatch, smallProgress, smallRun } from '../small-batch';

const GROUPS = ['inc-1', 'add-1', 'add-2'].map((name, id) => ({ id, name, prefix: name.slice(0, 3), colour: id === 0 ? 0 : 1 }));

function storeOf(rows: HeldRow[], section: Held = {}): TaskStore {
  const store = new TaskStore();
  const progress = [smallProgress({ prefix: 'inc' }), smallProgress({ prefix: 'add' })];
  store.append(smallBatch({ groups: GROUPS, runs: [smallRun()], progress, held: heldColumns(rows, section) }));
  return store;
}

function stacksOf(store: TaskStore, measure: Measure = 'bytes'): HeldStacks {
  return new HeldStacks(store, ALL_RUNS, new HeldMoments(store.held, ALL_RUNS, measure));
}

function summaryOf(store: TaskStore, measure: Measure): HeldSummary | null {
  return summariseHeld(store, ALL_RUNS, new HeldMoments(store.held, ALL_RUNS, measure));
}

/** The stack of 10 s in ten columns, as a list of amounts for each. */
function columns(rows: HeldRow[], presentS = 10, measure: Measure = 'bytes'): (number[] | null)[] {
  return columnsOf(stacksOf(storeOf(rows), measure), presentS);
}

function columnsOf(stacks: HeldStacks, presentS = 10): (number[] | null)[] {
  const { amounts, from, to, prefixes } = stacks.stack({ startS: 0, stopS: 10 }, 10, presentS);
  return Array.from({ length: 10 }, (_, c) =>
    c < from || c >= to ? null : [...amounts.subarray(c * prefixes.length, (c + 1) * prefixes.length)]
  );
}

describe('a stack', () => {
  it('has in each column the moment of the most, and what goes on from the column before', () => {
    const rows = [
      { at: 2.1, group: 0, keys: 1, bytes: 10 },
      { at: 4.2, group: 1, keys: 1, bytes: 5 },
      { at: 4.5, group: 2, keys: 1, bytes: 7 },
      { at: 4.8, group: 0, keys: 0 },
      { at: 6.5, group: 1, keys: 0 }
    ];
    expect(columns(rows, 7.5)).toEqual([null, null, [10, 0], [10, 0], [10, 12], [0, 12], [0, 12], [0, 7], null, null]);
  });

  it('begins with what was held before it, and says nothing of what is still to come', () => {
    expect(columns([{ at: -3, group: 0, keys: 2, bytes: 4 }], 1.5)).toEqual([[4, 0], [4, 0], ...Array.from({ length: 8 }, () => null)]);
    expect(columns([], 5)).toEqual(Array.from({ length: 10 }, () => null));
  });

  it('never shows less than the most of a column, whatever came when', () => {
    const row = fc.record({ at: fc.integer({ min: -128, max: 768 }).map(n => n / 64), bytes: fc.nat(100), group: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), rows => {
        const sorted = rows.sort((a, b) => a.at - b.at).map(r => ({ ...r, keys: 1 }));
        const after = (n: number): number =>
          [0, 1, 2].reduce((sum, g) => sum + (sorted.slice(0, n).filter(r => r.group === g).at(-1)?.bytes ?? 0), 0);
        const before = (timeS: number): number => sorted.filter(r => r.at < timeS).length;
        columns(sorted).forEach((parts, c) => {
          const within = sorted.filter(r => r.at >= c && r.at < c + 1);
          const ends = within.map(r => sorted.filter(other => other.at <= r.at).length);
          const most = Math.max(...[before(c), ...ends].map(after));
          expect((parts ?? [0]).reduce((a, b) => a + b, 0)).toBe(most);
        });
      })
    );
  });

  it('and its numbers are the same, however the rows came, and in whatever order', () => {
    const row = fc.record({ at: fc.integer({ min: 0, max: 640 }).map(n => n / 64), bytes: fc.nat(100), group: fc.nat(2), run: fc.nat(1), keys: fc.nat(1) }).map(r => ({ ...r, bytes: r.bytes * r.keys }));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), fc.array(fc.nat(60)), (rows, cuts) => {
        const ends = [...new Set([...cuts.filter(cut => cut < rows.length), rows.length])].sort((a, b) => a - b);
        const store = storeOf([]);
        const stacks = stacksOf(store);
        ends.reduce((first, end) => {
          store.append(smallBatch({ held: heldColumns(rows.slice(first, end), { first }) }));
          stacks.moments.update();
          expect(columnsOf(stacks)).toEqual(columns(rows.slice(0, end)));
          expect(summariseHeld(store, ALL_RUNS, stacks.moments)).toEqual(summaryOf(storeOf(rows.slice(0, end)), 'bytes'));
          return end;
        }, 0);
        // Beside each other, and not from one another.
        expect(sums(columnsOf(stacks))).toEqual(sums(naively(store)));
      })
    );
  });

  it('is made of few rows in each frame, however many there are', () => {
    const n = 290_000;
    const rows = Array.from({ length: n }, (_, i) => ({ at: i / 1_000, group: i % 3, keys: 1, bytes: (i * 7919) % 10_007 }));
    const store = storeOf(rows);
    const stacks = stacksOf(store);
    const walkedIn = (presentS: number): number => {
      const before = stacks.nWalked;
      stacks.moments.update();
      stacks.stack({ startS: 0, stopS: presentS }, 1_000, presentS);
      return stacks.nWalked - before;
    };
    expect(walkedIn(290)).toBeGreaterThanOrEqual(n);
    // Of each column half of the rows between two states that are kept, on average.
    expect(walkedIn(291)).toBeLessThan(n / 2);
    store.append(smallBatch({ held: heldColumns([{ at: 292, group: 0, keys: 1, bytes: 1 }], { first: n }) }));
    expect(stacks.stack({ startS: 291, stopS: 293 }, 1, 293).amounts).toHaveLength(2);
    expect(walkedIn(293)).toBeLessThan(n / 2);
  });
});

/** The most of each column, moment by moment, from all rows. */
function naively({ held }: TaskStore): number[][] {
  const last = new Map<string, number>();
  const sum = (): number => [...last.values()].reduce((a, b) => a + b, 0);
  return Array.from({ length: 10 }, (_, column) => column).map(column => {
    last.clear();
    let most = 0;
    for (let i = 0; i < held.n && (held.timeS[i] as number) < column + 1; i += 1) {
      const timeS = held.timeS[i] as number;
      if (timeS >= column && timeS !== held.timeS[i - 1]) {
        most = Math.max(most, sum());
      }
      last.set(`${held.run[i] as number} ${held.group[i] as number}`, held.nbytes[i] as number);
    }
    return [Math.max(most, sum())];
  });
}

function sums(stack: (number[] | null)[]): number[] {
  return stack.map(parts => (parts ?? []).reduce((a, b) => a + b, 0));
}

describe('numbers and words', () => {
  const ROWS = [
    { at: 1, group: 0, keys: 3, bytes: 30, unsized: 1, value: 1.5, unvalued: 2 },
    { at: 2, group: 1, keys: 1, bytes: 60, value: 2, unvalued: 0 },
    { at: 2, group: 2, keys: 1, bytes: 10, value: 0, unvalued: 1 },
    { at: 3, group: 0, keys: 0, bytes: 0, value: 0, unvalued: 0 }
  ];

  it('are of now and of the peak, with the groups that made it up', () => {
    expect(summaryOf(storeOf(ROWS), 'bytes')).toEqual({
      total: 70, unknown: 0, nKeys: 2, isLowerBound: false, isOnCluster: false,
      peak: { timeS: 2, total: 100, unknown: 1, nKeys: 5, groups: [[1, 60], [0, 30], [2, 10]] }
    });
    expect(summaryOf(storeOf([]), 'bytes')).toBeNull();
  });

  it('name the prefixes of the peak, their shares, and the keys nobody knows the size of', () => {
    const store = storeOf(ROWS);
    const words = new MeasureWords('bytes', null);
    const summary = summaryOf(store, 'bytes')!;
    expect(words.peak(summary, byPrefix(store, summary.peak.groups), 0.5)).toBe(
      'Peak 100 B at 1.5 s: add 70 B (70%), inc 30 B (30%) · 1 result of unknown size'
    );
    const thirds = { ...summary, peak: { ...summary.peak, total: 200, unknown: 0 } };
    expect(words.peak(thirds, [['add', 67], ['inc', 67], ['sum', 66]], 0.5)).toBe(
      'Peak 200 B at 1.5 s: add 67 B (34%), inc 67 B (33%), sum 66 B (33%)'
    );
    const unknown = { ...summary, peak: { ...summary.peak, total: 0 } };
    expect([words.peak(unknown, [], 0), new MeasureWords('metric', 'rows').peak(unknown, [], 0)]).toEqual([
      'Peak not known: all sizes are unknown', 'Peak not known: all values of rows are unknown'
    ]);
    expect(words.peak({ ...summary, isLowerBound: true }, [], 0)).toBe('Peak at least 100 B at 2 s · 1 result of unknown size');
    expect(words.now(summary, true)).toBe('now 70 B · 2 results');
    expect(words.now({ ...summary, nKeys: 0, total: 0 }, false)).toBe('none in memory now');
  });

  it('call a metric by its name', () => {
    const store = storeOf(ROWS, { metrics: new Map([[0, 'how_long']]) });
    const name = metricName(store, ALL_RUNS);
    expect([name, metricName(store, { firstRun: 1, lastRun: null })]).toEqual(['how_long', null]);
    expect(new MeasureWords('metric', name).peak(summaryOf(store, 'metric')!, [], 0)).toBe('Peak 3.5 how_long at 2 s · 3 results without a value of how_long');
  });

  it('say that computes at the same time were added up', () => {
    const store = new TaskStore();
    const runs = [smallRun({ stopS: 5 }), smallRun({ run: 1, startS: 4, stopS: 6 })];
    store.append(smallBatch({ groups: GROUPS, runs, held: heldColumns([{ at: 1, keys: 1, bytes: 1 }]) }));
    expect(summaryOf(store, 'bytes')?.isLowerBound).toBe(true);
  });
});
