/** A live view of a session: what runs now is its headline, and what ran before is a list to select from. */
import { beforeEach, expect, it, vi } from 'vitest';

import { mount } from '../../../src/charts/progress/view';
import { TimeAxis, headline } from '../../../src/charts/timeline/time';
import { TaskStore } from '../../../src/store';
import type { Run } from '../../../src/wire';
import { smallBatch, smallProgress, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

const EARLIER: Run = smallRun({ nTasks: 5000, executionCount: 1, startS: 0, stopS: 3, status: 'interrupted' });
const NOW: Run = smallRun({ run: 1, nTasks: 60, executionCount: 2, startS: 10 });

beforeEach(fakeTime);

interface View {
  readonly axis: TimeAxis;
  head(): string[];
  press(selector: string): void;
  items(): string[];
}

/** A view after 5,000 tasks of which 623 finished, while 52 of 60 have. */
function view(shows: 'now' | 'all'): View {
  const store = new TaskStore();
  const axis = new TimeAxis(true);
  mount(document.body, store, { signal: new AbortController().signal, shows, axis });
  store.append(smallBatch({
    nowS: 13, runs: [EARLIER, NOW],
    progress: [smallProgress({ total: 5000, finished: 623, interrupted: 4377 }), smallProgress({ run: 1, prefix: 'slow', total: 60, finished: 52, running: 4 })],
    estimates: [{ run: 1, stopS: 14, earliestS: 13.5, latestS: 15, nUnseen: 0 }]
  }));
  vi.advanceTimersToNextFrame();
  const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)].filter(part => part.closest('[hidden]') === null);
  return {
    axis,
    head: () => all('.tsk-progress-state, .tsk-progress-count, .tsk-progress-percent, .tsk-progress-name, .tsk-progress-elapsed').map(part => part.textContent),
    press: selector => { all(selector)[0]?.click(); vi.advanceTimersToNextFrame(); },
    items: () => all('.tsk-progress-runs li').map(item => [...item.childNodes].map(part => part.textContent).join(' | '))
  };
}

it('is of the compute that runs, whatever became of those before', () => {
  expect(view('now').head()).toEqual(['Running', '52 of 60 tasks', '3.0 s', '87%', 'slow']);
});

it('is that a cell runs which has computed nothing, once it does for a second and nothing else runs', () => {
  const store = new TaskStore({ clockMs: () => performance.now() });
  const cell = { count: 3, sinceMs: performance.now(), firstRun: 1 };
  mount(document.body, store, { signal: new AbortController().signal, shows: 'now', axis: new TimeAxis(true), cell: { current: () => cell, subscribe: () => undefined } });
  const said = (): string[] =>
    ['.tsk-progress-state', '.tsk-progress-live', '.tsk-progress-run', '.tsk-progress-count'].map(part => document.querySelector<HTMLElement>(`${part}:not([hidden])`)?.textContent ?? '');
  const [before, progress] = [{ ...EARLIER, status: 'finished' as const, nTasks: 4 }, [smallProgress({ total: 4, finished: 4 })]];
  store.append(smallBatch({ nowS: 9, runs: [before], progress }));
  vi.advanceTimersByTime(500);
  expect(said()).toEqual(['Finished', '', 'In [1]', '4 of 4 tasks']);
  vi.advanceTimersByTime(3000);
  expect(said()).toEqual(['In [3] runs', 'nothing computed yet, 3 s', '', '']);
  store.append(smallBatch({ nowS: 12.5, runs: [before, { ...NOW, executionCount: 3 }], progress: [...progress, smallProgress({ run: 1, total: 60, finished: 2 })] }));
  vi.advanceTimersByTime(50);
  expect(said().slice(0, 2)).toEqual(['Running', '']);
});

it('is of all computes of the cell that ran last', () => {
  const of = (run: number, cell: string | null, executionCount: number | null, startS: number, stopS: number | null): Run =>
    smallRun({ run, cell, executionCount, startS, stopS, status: stopS === null ? 'running' : 'finished' });
  const [old, persisted, computed, script] = [of(0, 'a', 1, 0, 1), of(1, 'a', 2, 2, 123), of(2, 'a', 2, 123, 124.9), of(3, null, null, 125, 126)];
  const numbers = (runs: readonly Run[]): number[] => headline(runs).map(({ run }) => run);
  expect(numbers([old, persisted, computed])).toEqual([1, 2]);
  expect(numbers([old, persisted, { ...computed, stopS: null, status: 'running' }])).toEqual([1, 2]);
  expect(numbers([old, persisted, computed, script])).toEqual([3]);
  expect(headline([])).toEqual([]);
});

it('is of all computes of one cell', () => {
  expect(view('all').head()).toEqual(['Running', '675 of 5,060 tasks', '6.0 s', '13%', 'add', 'slow']);
});

it('is of the compute that is selected in the list of all, until a person goes back', () => {
  const shown = view('now');
  shown.press('.tsk-progress-run');
  const items = shown.items();
  shown.press('li:last-child .tsk-progress-choose');
  const [chosen, head] = [shown.axis.chosen, shown.head()];
  shown.press('.tsk-progress-latest');
  expect([items, chosen, head, shown.axis.chosen, shown.head()[1]]).toEqual([
    ['In [2] | Running · 60 tasks · 3 s | Show', 'In [1] | Interrupted · 5,000 tasks · 3 s · 10 s ago | Show'],
    0, ['Interrupted', '623 of 5,000 tasks', '3 s', '12%', 'add'], null, '52 of 60 tasks'
  ]);
});
