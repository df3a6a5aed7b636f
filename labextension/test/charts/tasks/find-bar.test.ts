import { beforeEach, expect, it, vi } from 'vitest';

import { type FindHost, FindBar, TaskSearch } from '../../../src/charts/tasks/search';
import type { FoundOpen } from '../../../src/charts/tasks/find-task';
import { render } from '../../../src/charts/ui/render';
import { type Selected, type TaskStore } from '../../../src/store';
import { batchOf, storeWith } from '../../store/rows';
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
