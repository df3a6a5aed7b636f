import { beforeEach, describe, expect, it, vi } from 'vitest';

import { mount, Announcer } from '../../../src/charts/progress/view';
import { TaskStore } from '../../../src/store';
import { smallBatch, smallProgress, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';
import { TimeAxis, headline } from '../../../src/charts/timeline/time';
import type { Run } from '../../../src/wire';

beforeEach(fakeTime);

function mounted(store = new TaskStore(), options = {}): { el: HTMLElement; controller: AbortController } {
  const el = document.body.appendChild(document.createElement('div'));
  const controller = new AbortController();
  mount(el, store, { signal: controller.signal, ...options });
  return { el, controller };
}

/** What is on the screen, piece by piece. */
function shown(el: HTMLElement): Record<'head' | 'counts' | 'meta' | 'error' | 'rows' | 'more', string[]> {
  const visible = (selector: string): string[] =>
    [...el.querySelectorAll<HTMLElement>(selector)]
      .filter(part => part.closest('[hidden]') === null)
      .map(part => part.textContent);
  return {
    head: visible('.tsk-progress-head > :not(.tsk-progress-acts)'),
    counts: visible('.tsk-progress-counts > *'),
    meta: visible('.tsk-progress-meta > *'),
    error: visible('.tsk-progress-error'),
    rows: visible('.tsk-progress-name, .tsk-progress-number'),
    more: visible('.tsk-progress-more')
  };
}

const widths = (bar: Element | null): (string | undefined)[] =>
  [...(bar?.children ?? [])].map(segment => (segment as HTMLElement).style.width);

const RUNNING = smallBatch({
  nowS: 2,
  runs: [smallRun()],
  estimates: [{ run: 0, stopS: 3.9, earliestS: 3.2, latestS: 6, nUnseen: 0 }],
  progress: [
    smallProgress({ total: 6, finished: 4, running: 1, durationS: 2 }),
    smallProgress({ prefix: 'mul', total: 4, finished: 1, erred: 1, running: 1, durationS: 1 })
  ]
});

describe('the progress chart', () => {
  it('shows the counts of a compute while it runs', () => {
    const store = new TaskStore();
    const { el } = mounted(store);
    store.append(RUNNING);
    vi.advanceTimersToNextFrame();
    expect(shown(el)).toEqual({
      head: ['Running'],
      counts: ['5 of 10 tasks', '2.0 s', '50%'],
      meta: ['about 2 s left (up to 4 s)', '1 failed', '2 running'],
      error: [],
      rows: ['add', '4 / 6', 'mul', '1 / 4'],
      more: []
    });
    expect(widths(el.querySelector('[role=progressbar]'))).toEqual(['50%', '10%', '0%', '20%']);
    expect(widths(el.querySelectorAll('[role=img]')[1] ?? null)).toEqual(['25%', '25%', '0%', '25%']);
  });

  it('tells assistive technology what the bar shows', () => {
    const store = new TaskStore();
    store.append(RUNNING);
    const { el } = mounted(store);
    const bar = el.querySelector('[role=progressbar]');
    const names = ['aria-valuemin', 'aria-valuemax', 'aria-valuenow', 'aria-valuetext'];
    const sentence = 'Running: 5 of 10 tasks, 50%, 2 running, 1 failed, 2.0 s elapsed, about 2 s left (up to 4 s)';
    expect(names.map(name => bar?.getAttribute(name))).toEqual(['0', '10', '5', sentence]);
    expect(el.querySelector('[aria-live=polite]')?.textContent).toBe(sentence);
  });

  it('lets time pass between two messages, and stands still after the last one', () => {
    const store = new TaskStore();
    const { el } = mounted(store);
    store.append(RUNNING);
    vi.advanceTimersByTime(1050);
    expect([shown(el).counts[1], shown(el).meta]).toEqual(['3.0 s', ['about 1 s left (up to 3 s)', '1 failed', '2 running']]);
    store.append(
      smallBatch({
        seq: 1, nowS: 4, active: false,
        runs: [smallRun({ stopS: 3.5, status: 'erred', error: 'ValueError: <b>no</b>' })],
        progress: [
          smallProgress({ total: 6, finished: 6, durationS: 3 }),
          smallProgress({ prefix: 'mul', total: 4, finished: 1, erred: 1, interrupted: 2, durationS: 1 })
        ]
      })
    );
    vi.advanceTimersByTime(10_000);
    expect(shown(el)).toEqual({
      head: ['Failed'],
      counts: ['7 of 10 tasks', '3.5 s', '70%'],
      meta: ['1 failed', '2 interrupted'],
      error: ['ValueError: <b>no</b>'],
      rows: ['add', '3 s', 'mul', '1 / 4'],
      more: []
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('folds away all but eight prefixes until asked', () => {
    const store = new TaskStore();
    const progress = Array.from({ length: 210 }, (_, i) => smallProgress({ prefix: `p${i}`, total: 1 }));
    store.append(smallBatch({ runs: [smallRun({ nTasks: 210 })], progress }));
    const { el } = mounted(store);
    const names = (): string[] => [...el.querySelectorAll('.tsk-progress-name')].map(name => name.textContent);
    const all = progress.map(row => row.prefix);
    const more = el.querySelector<HTMLElement>('.tsk-progress-prefixes .tsk-progress-more');
    expect([names(), more?.textContent, more?.getAttribute('aria-expanded')]).toEqual([all.slice(0, 8), 'Show 202 more task types', 'false']);
    more?.click();
    expect([names(), more?.textContent, more?.getAttribute('aria-expanded')]).toEqual([
      all.slice(0, 200), 'Show fewer (10 more are not listed)', 'true'
    ]);
    more?.click();
    expect(names()).toEqual(all.slice(0, 8));
  });

  it('shows hostile prefixes as text', () => {
    const store = new TaskStore();
    const prefix = '</script><img src=x onerror=alert(1)>\u202e';
    store.append(smallBatch({ runs: [smallRun()], progress: [smallProgress({ prefix })] }));
    const { el } = mounted(store);
    expect([shown(el).rows, el.querySelectorAll('img, script').length]).toEqual([['</script><img src=x onerror=alert(1)>\\u202e', '0 / 10'], 0]);
  });
});

it('says the first thing at once and then, every five seconds, the latest; nothing old stays in the page', () => {
  const announcer = new Announcer(() => undefined, new AbortController().signal);
  const heard: string[] = [];
  for (let second = 0; second < 12; second += 1) {
    announcer.say(`${second} s`);
    heard.push(announcer.text);
    vi.advanceTimersByTime(1000);
  }
  expect(heard).toEqual(['0 s', '0 s', '', '', '', '4 s', '4 s', '', '', '', '9 s', '9 s']);
});

it('says the last news although nothing follows, but never after it was closed', () => {
  const controller = new AbortController();
  const changed = vi.fn();
  const announcer = new Announcer(changed, controller.signal);
  announcer.say('running');
  announcer.say('finished');
  vi.advanceTimersByTime(5000);
  expect([announcer.text, announcer.hasSaid]).toEqual(['finished', true]);
  announcer.say('running again');
  controller.abort();
  announcer.say('too late');
  vi.advanceTimersByTime(60_000);
  expect([announcer.text, changed.mock.calls.length, vi.getTimerCount()]).toEqual(['finished', 3, 0]);
});

it('says an end at once, what was due before it never, and the same not again', () => {
  const announcer = new Announcer(() => undefined, new AbortController().signal);
  announcer.say('1 of 2');
  announcer.say('2 of 2');
  announcer.say('finished', true);
  const said = announcer.text;
  vi.advanceTimersByTime(60_000);
  announcer.say('finished');
  vi.advanceTimersByTime(60_000);
  expect([said, announcer.text]).toEqual(['finished', '']);
});

const EARLIER: Run = smallRun({ nTasks: 5000, executionCount: 1, startS: 0, stopS: 3, status: 'interrupted' });
const NOW: Run = smallRun({ run: 1, nTasks: 60, executionCount: 2, startS: 10 });

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
