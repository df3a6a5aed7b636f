// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import type { TaskStore } from '../../../src/store';
import { LATE_MS } from '../../../src/store/tasks/links';
import { RowNumbers } from '../../../src/store/tasks/lane-rows';
import type { LinkRows } from '../../../src/wire';
import { batchOf, storeWith } from '../rows';

const NONE: LinkRows = { dependencies: [], nDependencies: 0, dependents: [], nDependents: 0 };

interface Asking {
  readonly store: TaskStore;
  readonly asked: number[];
  readonly pass: (ms: number) => void;
  /** Answers the oldest request; with an error: that it failed. */
  readonly answer: (rows: LinkRows | null | Error) => Promise<void>;
}

function asking(isThere = true): Asking {
  let now = 0;
  const asked: number[] = [];
  const waiting: ((rows: LinkRows | null | Error) => void)[] = [];
  const ask = (row: number): Promise<LinkRows | null> | null => {
    asked.push(row);
    return isThere ? new Promise<LinkRows | null | Error>(resolve => { waiting.push(resolve); }).then(rows => (rows instanceof Error ? Promise.reject(rows) : rows)) : null;
  };
  const store = storeWith(batchOf([{ start: 2, stop: 3, lane: 1 }, { start: 0, stop: 1 }]), { clockMs: () => now, ask });
  const answer = async (rows: LinkRows | null | Error): Promise<void> => {
    waiting.shift()?.(rows);
    for (let i = 0; i < 5; i += 1) {
      await Promise.resolve();
    }
  };
  return { store, asked, pass: ms => (now += ms), answer };
}

describe('links of a task', () => {
  it('are asked for once, and point to the tasks that are here', async () => {
    const { store, asked, answer } = asking();
    expect([store.links(0), store.links(0)]).toEqual([{ kind: 'asked', isLate: false }, { kind: 'asked', isLate: false }]);
    const version = store.version;
    await answer({ dependencies: [{ row: 1, key: 'b' }], nDependencies: 300, dependents: [{ row: 9, key: 'c' }], nDependents: 1 });
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

  it('are unknown where nobody can be asked, and where the recorder has dropped the task', async () => {
    expect(asking(false).store.links(0)).toEqual({ kind: 'unknown' });
    const { store, answer } = asking();
    store.links(0);
    await answer(null);
    expect(store.links(0)).toEqual({ kind: 'unknown' });
  });

  it('are late when the kernel has not answered for three seconds, of which views are told once', async () => {
    vi.useFakeTimers();
    const { store, asked, answer } = asking();
    store.links(1);
    store.links(0);
    await answer(NONE);
    const told: unknown[] = [];
    store.subscribe(() => told.push(store.links(0)), new AbortController().signal);
    vi.advanceTimersByTime(LATE_MS - 1);
    expect([store.links(0), told]).toEqual([{ kind: 'asked', isLate: false }, []]);
    vi.advanceTimersByTime(60_000);
    expect([told, asked]).toEqual([[{ kind: 'asked', isLate: true }], [1, 0]]);
    await answer(NONE);
    expect(store.links(0).kind).toBe('known');
  });

  it('are asked for again two seconds later, where an end had not ended and tasks came, and tell views only of a change', async () => {
    const { store, asked, pass, answer } = asking();
    const open = { ...NONE, dependents: [{ row: null, key: 'c' }], nDependents: 1 };
    const versions = [store.version];
    const look = async (rows?: LinkRows): Promise<void> => {
      pass(2_000);
      store.links(0);
      await answer(rows ?? open);
      versions.push(store.version);
    };
    await look();
    await look();
    store.append(batchOf([{ start: 3, stop: 4 }], { seq: 1, first: 2 }));
    await look();
    store.append(batchOf([{ start: 4, stop: 5 }], { seq: 2, first: 3 }));
    await look({ ...NONE, dependents: [{ row: 1, key: 'c' }], nDependents: 1 });
    store.append(batchOf([{ start: 5, stop: 6 }], { seq: 3, first: 4 }));
    await look();
    expect([store.links(0), asked.length, versions.map(version => version - (versions[0] as number))]).toEqual([
      { kind: 'known', dependencies: [], nDependencies: 0, dependents: [{ key: 'c', place: { lane: 0, row: 1, startS: 0 } }], nDependents: 1 },
      3,
      [0, 1, 1, 2, 4, 5]
    ]);
  });

  it('are asked for again after a request that failed', async () => {
    const { store, asked, pass, answer } = asking();
    store.links(0);
    await answer(new Error('no answer'));
    const failed = [store.links(0).kind, asked.length];
    pass(2_000);
    store.links(0);
    await answer(NONE);
    expect([failed, store.links(0).kind, asked.length]).toEqual([['unknown', 1], 'known', 2]);
  });

  it('are forgotten with their epoch, and an answer from before changes nothing', async () => {
    const { store, asked, answer } = asking();
    store.links(0);
    store.append(batchOf([{ start: 0, stop: 1 }], { epoch: 'r-2' }));
    await answer(NONE);
    expect([store.links(0), asked]).toEqual([{ kind: 'asked', isLate: false }, [0, 0]]);
  });

  it('of the last 64 tasks are kept', async () => {
    const { store, asked, answer } = asking();
    store.append(batchOf(Array.from({ length: 65 }, (_, i) => ({ start: i, stop: i + 1 })), { epoch: 'r-2' }));
    for (let row = 0; row < 65; row += 1) {
      store.links(row);
      await answer(NONE);
    }
    expect([store.links(64).kind, store.links(1).kind, store.links(0).kind, asked.slice(65)]).toEqual(['known', 'known', 'asked', [0]]);
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
