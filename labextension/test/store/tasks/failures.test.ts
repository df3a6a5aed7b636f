// @vitest-environment node
import { expect, it } from 'vitest';

import { ALL_RUNS, TaskStore } from '../../../src/store';
import { type Row, batchOf, storeWith } from '../rows';

const failed = (start: number, error: string | undefined, more: Partial<Row> = {}): Row => ({
  start, stop: start + 1, status: 1, key: [start], ...(error === undefined ? {} : { error }), ...more
});

it('failures are counted by prefix, status and text, and each says which task was the first', () => {
  const store = storeWith(batchOf([
    { start: 0, stop: 1 },
    failed(5, 'ValueError: no'),
    failed(3, 'ValueError: no', { lane: 1 }),
    failed(1, 'ValueError: no', { lane: 1, group: 2 }),
    failed(2, undefined, { status: 3 })
  ]));
  store.append(batchOf([failed(9, 'KeyError', { run: 1 }), failed(10, 'ValueError: no', { run: 1 })], { seq: 1, first: 5 }));
  const no = { prefix: 'inc', status: 'erred', error: 'ValueError: no' };
  const first = { row: 1, lane: 0, startS: 5, key: "('inc-1', 5)" };
  expect(store.failures(ALL_RUNS)).toEqual([
    { ...no, n: 3, first },
    { ...no, prefix: 'sum', n: 1, first: { row: 3, lane: 1, startS: 1, key: "('sum-1', 1)" } },
    { prefix: 'inc', status: 'lost', error: null, n: 1, first: { row: 4, lane: 0, startS: 2, key: "('inc-1', 2)" } },
    { ...no, error: 'KeyError', n: 1, first: { row: 5, lane: 0, startS: 9, key: "('inc-1', 9)" } }
  ]);
  expect(store.failures({ firstRun: 1, lastRun: null }).map(kind => [kind.error, kind.n, kind.first.row])).toEqual([
    ['KeyError', 1, 5], ['ValueError: no', 1, 6]
  ]);
});

it('a task knows its own error, also where the batch before it came in part already', () => {
  const store = new TaskStore();
  const rows = [failed(0, 'a'), { start: 1, stop: 2 }, failed(2, 'b'), failed(3, undefined), failed(4, 'a')];
  store.append(batchOf(rows.slice(0, 2)));
  store.append(batchOf(rows.slice(1), { seq: 1, first: 1 }));
  store.append(batchOf(rows, { seq: 2, first: 0 }));
  expect([0, 1, 2, 3, 4].map(i => store.detail(0, i)?.error)).toEqual(['a', null, 'b', null, 'a']);
  expect(store.failures(ALL_RUNS).map(kind => [kind.error, kind.n])).toEqual([['a', 2], ['b', 1], [null, 1]]);
});

it('beyond ten thousand different texts they are no longer told apart', () => {
  const store = storeWith(batchOf(Array.from({ length: 10_002 }, (_, i) => failed(i, `E: ${i}`))));
  const kinds = store.failures(ALL_RUNS);
  expect([kinds.length, kinds[9_999]?.error, kinds[10_000]]).toEqual([
    10_001,
    'E: 9999',
    {
      prefix: 'inc', status: 'erred', error: '(more than 10,000 different errors)', n: 2,
      first: { row: 10_000, lane: 0, startS: 10_000, key: "('inc-1', 10000)" }
    }
  ]);
});
