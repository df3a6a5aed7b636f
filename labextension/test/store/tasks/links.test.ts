// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import { TaskStore } from '../../../src/store';
import { LATE_MS } from '../../../src/store/tasks/links';
import { RowNumbers } from '../../../src/store/tasks/lane-rows';
import type { LinkRows } from '../../../src/wire';
import { batchOf } from '../rows';

const NONE: LinkRows = { dependencies: [], nDependencies: 0, dependents: [], nDependents: 0 };

function asking(answers = true): { store: TaskStore; asked: number[]; pass: (ms: number) => void } {
  let now = 0;
  const asked: number[] = [];
  const ask = (row: number): boolean => {
    asked.push(row);
    return answers;
  };
  const store = new TaskStore({ clockMs: () => now, ask });
  store.append(batchOf([{ start: 2, stop: 3, lane: 1 }, { start: 0, stop: 1 }]));
  return { store, asked, pass: ms => (now += ms) };
}

describe('links of a task', () => {
  it('are asked for once, and point to the tasks that are here', () => {
    const { store, asked } = asking();
    expect([store.links(0), store.links(0)]).toEqual([{ kind: 'asked', isLate: false }, { kind: 'asked', isLate: false }]);
    const version = store.version;
    store.answerLinks('r-1', {
      row: 0,
      links: { dependencies: [{ row: 1, key: 'b' }], nDependencies: 300, dependents: [{ row: 9, key: 'c' }], nDependents: 1 }
    });
    expect([store.links(0), asked, store.version - version]).toEqual([
      {
        kind: 'known',
        dependencies: [{ key: 'b', place: { lane: 0, row: 1, startS: 0 } }], nDependencies: 300,
        dependents: [{ key: 'c', place: null }], nDependents: 1
      },
      [0],
      1
    ]);
  });

  it('are unknown where nobody can be asked, and where the recorder has dropped the task', () => {
    const { store } = asking(false);
    expect(store.links(0)).toEqual({ kind: 'unknown' });
    store.answerLinks('r-1', { row: 0, links: null });
    expect(store.links(0)).toEqual({ kind: 'unknown' });
  });

  it('are late when the kernel has not answered for three seconds, which whoever looks is told once', () => {
    vi.useFakeTimers();
    try {
      const { store, asked } = asking();
      store.links(0);
      store.links(1);
      store.answerLinks('r-1', { row: 1, links: NONE });
      const told: unknown[] = [];
      store.subscribe(() => told.push(store.links(0)), new AbortController().signal);
      vi.advanceTimersByTime(LATE_MS - 1);
      expect([store.links(0), told]).toEqual([{ kind: 'asked', isLate: false }, []]);
      vi.advanceTimersByTime(60_000);
      expect([told, asked]).toEqual([[{ kind: 'asked', isLate: true }], [0, 1]]);
      store.answerLinks('r-1', { row: 0, links: NONE });
      expect(store.links(0).kind).toBe('known');
    } finally {
      vi.useRealTimers();
    }
  });

  it('are asked for again where an end had not ended, two seconds later', () => {
    const { store, asked, pass } = asking();
    store.links(0);
    store.answerLinks('r-1', { row: 0, links: { ...NONE, dependents: [{ row: null, key: 'c' }], nDependents: 1 } });
    store.links(0);
    pass(2_000);
    expect([store.links(0).kind, store.links(0).kind, asked]).toEqual(['known', 'known', [0, 0]]);
    store.answerLinks('r-1', { row: 0, links: { ...NONE, dependents: [{ row: 1, key: 'c' }], nDependents: 1 } });
    pass(9_000);
    expect([store.links(0), asked]).toEqual([
      {
        kind: 'known', dependencies: [], nDependencies: 0,
        dependents: [{ key: 'c', place: { lane: 0, row: 1, startS: 0 } }], nDependents: 1
      },
      [0, 0]
    ]);
  });

  it('are asked for anew after a stream that started anew, and forgotten with their epoch', () => {
    const { store, asked } = asking();
    store.links(0);
    store.append(batchOf([], { first: 2 }));
    store.links(0);
    store.append(batchOf([{ start: 0, stop: 1 }], { epoch: 'r-2' }));
    store.answerLinks('r-1', { row: 0, links: NONE });
    expect([store.links(0), asked]).toEqual([{ kind: 'asked', isLate: false }, [0, 0, 0]]);
  });

  it('of the last 64 tasks are kept', () => {
    const { store, asked } = asking();
    for (let row = 0; row < 65; row += 1) {
      store.answerLinks('r-1', { row, links: NONE });
    }
    expect([store.links(64).kind, store.links(1).kind, store.links(0).kind, asked]).toEqual(['known', 'known', 'asked', [0]]);
  });
});

it('row numbers go on where rows are missing', () => {
  const numbers = new RowNumbers();
  numbers.begin(0, 10);
  numbers.begin(3, 13);
  numbers.begin(5, 40);
  expect([0, 4, 5, 7].map(row => numbers.numberOf(row))).toEqual([10, 14, 40, 42]);
  expect([9, 10, 14, 15, 39, 40, 42].map(number => numbers.rowOf(number))).toEqual([null, 0, 4, null, null, 5, 7]);
});
