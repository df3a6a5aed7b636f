import { beforeEach, expect, it, vi, describe } from 'vitest';

import { type FindHost, FindBar, TaskSearch, exactQuery, textQuery } from '../../../src/charts/tasks/search';
import type { FoundOpen } from '../../../src/charts/tasks/find-task';
import { render } from '../../../src/charts/ui/render';
import type { Selected, TaskStore, PrefixFilter, TaskRef } from '../../../src/store';
import { type Row, batchOf, storeWith } from '../../store/rows';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

/** A bar in the page, what it has painted, and how a person types. */
function opened(open: readonly FoundOpen[] = []): { bar: FindBar; visited: unknown[]; store: TaskStore; status: () => string | undefined; found: () => number[] | null; type: (text: string) => void } {
  const el = document.body.appendChild(document.createElement('div'));
  const store = storeWith(batchOf([{ start: 0, stop: 1, key: [1] }, { start: 1, stop: 2, group: 1, key: [2] }, { start: 2, stop: 3, group: 1, key: [3] }]));
  const visited: unknown[] = [];
  let selected: Selected | null = null;
  const host: FindHost = {
    search: query => new TaskSearch(store, query, null, { hidden: null, focus: -1 }),
    inFlight: search => open.filter(({ bar: { task } }) => search.hasOpen(task)),
    selected: () => selected,
    goTo: match => {
      selected = 'kind' in match ? { key: match.bar.task.keyText, ref: null } : { key: '', ref: match };
      visited.push([selected.ref?.row ?? selected.key, bar.said()]);
    },
    changed: () => { render(bar.render(), el); },
    closed: () => undefined
  };
  const bar = new FindBar(host, new AbortController().signal);
  bar.open();
  return {
    bar, store, visited,
    status: () => el.querySelector('[role=status]')?.textContent,
    found: () => { const lane = bar.matches?.lane(0); return bar.matches === null ? null : [...(lane?.row ?? []).slice(0, lane?.n)]; },
    type: text => {
      const input = el.querySelector('input')!;
      input.value = text;
      input.dispatchEvent(new Event('input'));
    }
  };
}

it('what matches is known while one types, without Enter, and all comes back with nothing typed, or with the bar closed', () => {
  const { bar, found, type } = opened();
  const steps = ['inc', 'add', 'add-1, 3', 'nothing like it', ' '].map(text => {
    type(text);
    vi.runAllTimers();
    return found();
  });
  expect(steps).toEqual([[0], [1, 2], [2], [], null]);
  type('add');
  vi.runAllTimers();
  bar.close();
  expect([found(), bar.isOpen]).toEqual([null, false]);
  // What stands in the field is what is shown.
  bar.open();
  vi.runAllTimers();
  expect(found()).toEqual([1, 2]);
});

it('the picture stays until all tasks have been looked at', () => {
  const { found, status, type } = opened();
  type('inc');
  vi.runAllTimers();
  type('add');
  expect([found(), status()]).toEqual([[0], 'searching…']);
  vi.runAllTimers();
  expect(found()).toEqual([1, 2]);
});

it('tasks that come while it is open are found, too', () => {
  const { bar, store, found, type } = opened();
  type('add');
  vi.runAllTimers();
  store.append(batchOf([{ start: 3, stop: 4, group: 1, key: [4] }], { seq: 1, first: 3 }));
  bar.refresh('more');
  vi.runAllTimers();
  expect(found()).toEqual([1, 2, 3]);
});

it('tasks in flight are counted, and visited after those that have ended', () => {
  const open = [7, 8].map((i): FoundOpen => ({ kind: 'open', lane: 0, label: '', bar: { startS: i, prefix: 1, task: { run: 0, lane: 0, group: 1, keyText: `('add-1', ${i})`, startS: i } } }));
  const { bar, status, type, visited } = opened(open);
  type('add-1, 8');
  vi.runAllTimers();
  const one = status();
  bar.go(1);
  type('add');
  vi.runAllTimers();
  const four = status();
  for (const direction of [1, 1, 1, 1, -1, -1, -1] as const) {
    bar.go(direction);
  }
  const [seven, eight] = ["('add-1', 7)", "('add-1', 8)"];
  expect([one, four, visited]).toEqual(['1 match', '4 of 4 matches', [
    [eight, '1 of 1 matches'],
    [1, '1 of 4 matches'], [2, '2 of 4 matches'], [seven, '3 of 4 matches'], [eight, '4 of 4 matches'],
    [seven, '3 of 4 matches'], [2, '2 of 4 matches'], [1, '1 of 4 matches']
  ]]);
});

const ALL: PrefixFilter = { hidden: null, focus: -1 };
const forever = (): boolean => false;

function storeOf(rows: readonly Row[]): TaskStore {
  const store = storeWith(batchOf(rows));
  return store;
}

const ROWS: Row[] = [
  { start: 5, stop: 6, key: [1, 2] }, { start: 1, stop: 2, lane: 1, key: [1, 20] }, { start: 3, stop: 4, key: 'Load-<b>' },
  { start: 7, stop: 8, lane: 1, group: 1, key: [2] }
];

function rowsFound(store: TaskStore, text: string, sight = ALL): number[] {
  const search = new TaskSearch(store, textQuery(text), null, sight);
  expect(search.step(forever)).toBe(true);
  const found: number[] = [];
  let at: TaskRef | null = null;
  for (let i = 0; i < search.count; i += 1) {
    at = search.nearest(at, 1);
    found.push(at?.row ?? -1);
    expect(search.ordinal(at!)).toBe(i + 1);
  }
  expect(search.nearest(at, 1)).toBe(null);
  return found;
}

describe('finding', () => {
  it.each([
    ['inc', [1, 2, 0]], ['INC-1', [1, 2, 0]], ["('inc-1", [1, 2, 0]], ['add', [3]], ['load', [2]], ['<b>', [2]], ['nothing', []],
    ["('inc-1', 1, 2)", [0]], ['inc, 1', [1, 0]], ['inc-1, 1, 20', [1]], ['inc, 20', []], ['inc, 1, 2', [0]]
  ])('%s', (text, rows) => { expect(rowsFound(storeOf(ROWS), text)).toEqual(rows); });

  it('what was found is lanes of its own, in the order of time, and tasks in flight are found alike', () => {
    const store = storeOf(ROWS);
    const search = new TaskSearch(store, textQuery('inc, 1'), null, ALL);
    search.step(forever);
    const lanes = [0, 1].map(id => search.lane(id)).map(lane => Array.from({ length: lane?.n ?? 0 }, (_, i) => [lane?.startS[i], lane?.stopS[i], lane?.prefix[i], lane?.row[i]]));
    expect(lanes).toEqual([[[5, 6, 0, 0]], [[1, 2, 0, 1]]]);
    const open = ([[0, "('inc-1', 1, 9)"], [0, "('inc-1', 2)"], [1, "('add-1', 1)"]] as const).map(([group, key]) =>
      [textQuery('inc, 1'), textQuery('inc'), textQuery('1)')].map(query => new TaskSearch(store, query, null, ALL).hasOpen({ run: 0, lane: 0, group, keyText: key, startS: 9 })));
    expect(open).toEqual([[true, true, false], [false, true, false], [false, false, false]]);
  });

  it('what is hidden is not found', () => {
    const store = storeOf(ROWS);
    const hidden = new Uint8Array(3);
    hidden[store.tables.prefixId('inc')] = 1;
    expect(rowsFound(store, '1', { hidden, focus: -1 })).toEqual([3]);
  });

  it('an exact key is one task, however much it looks like others', () => {
    const store = storeOf([...ROWS, { start: 9, stop: 10, key: 'load-' }]);
    const found = ["('inc-1', 1, 2)", 'load-', "('add-1', 2)", "('inc-1', 1)", 'Load-'].map(key => {
      const search = new TaskSearch(store, exactQuery(key), null, ALL);
      search.step(forever);
      return [search.count, search.nearest(null, 1)?.row ?? null];
    });
    expect(found).toEqual([[1, 0], [1, 4], [1, 3], [0, null], [0, null]]);
  });
});

it('stepping: goes on from any task, forwards and backwards, to the ends', () => {
  const store = storeOf(ROWS);
  const search = new TaskSearch(store, textQuery('inc'), null, ALL);
  search.step(forever);
  const other = { lane: 1, row: 3, startS: 7 };
  const tie = { lane: 0, row: 0, startS: 5 };
  expect([
    search.nearest(null, 1)?.row, search.nearest(null, -1)?.row, search.nearest(other, 1)?.row, search.nearest(other, -1)?.row,
    search.nearest(tie, 1)?.row, search.nearest(tie, -1)?.row, search.ordinal(other)
  ]).toEqual([1, 0, undefined, 0, undefined, 2, 0]);
});

describe('a slice at a time', () => {
  const many = (n: number, from = 0): Row[] => Array.from({ length: n }, (_, i) => ({ start: from + i, stop: from + i + 0.5, key: [i] }));

  it('stops when its time is over, and goes on where it stopped', () => {
    const search = new TaskSearch(storeOf(many(1000)), textQuery('inc'), null, ALL);
    const seen = [1, 2, 3, 4].map(() => [search.step(() => true), search.count]);
    expect(seen).toEqual([[false, 256], [false, 512], [false, 768], [false, 1000]]);
    expect(search.step(() => true)).toBe(true);
  });

  it('finds what came later, also where it came out of order', () => {
    const store = storeOf(many(10, 100));
    const search = new TaskSearch(store, textQuery('inc'), null, ALL);
    search.step(forever);
    store.append(batchOf(many(5, 200), { seq: 1, first: 10 }));
    search.step(forever);
    const inOrder = search.count;
    store.append(batchOf([{ start: 150, stop: 151, key: [77] }, { start: 1, stop: 2, group: 1, key: [7] }], { seq: 2, first: 15 }));
    search.step(forever);
    expect([inOrder, search.count, search.nearest({ lane: 0, row: 9, startS: 109 }, 1)?.row]).toEqual([15, 16, 15]);
  });
});
