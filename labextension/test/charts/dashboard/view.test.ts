import { beforeEach, describe, expect, it, vi } from 'vitest';

import { type DashboardOptions, mount } from '../../../src/charts/dashboard';
import { TimeAxis } from '../../../src/charts/timeline/time';
import { mountTracks } from '../../../src/charts/tracks';
import { Keeping } from '../../../src/charts/ui/keeping';
import { SHARED_CSS } from '../../../src/charts/ui/theme';
import { DARK, LIGHT } from '../../../src/lib/theme';
import { TaskStore } from '../../../src/store';
import { countListeners } from '../listener-count';
import { type SmallBatch, smallBatch, smallProgress, smallRun } from '../small-batch';
import { heldColumns, resourceColumns } from '../../store/series';
import { fakeTime } from '../../fake-time';
import { storeWith } from '../../store/rows';

beforeEach(fakeTime);

const TWO_RUNS: Partial<SmallBatch> = {
  nowS: 3,
  runs: [smallRun({ stopS: 1, status: 'finished' }), smallRun({ run: 1, startS: 2 })],
  progress: [
    smallProgress({ prefix: 'before', finished: 10 }),
    smallProgress({ run: 1, prefix: 'add', finished: 4 }),
    smallProgress({ run: 1, prefix: 'mul' })
  ]
};

function coloured(el: HTMLElement, item: string, swatch: string, name: string): [string, string][] {
  return [...el.querySelectorAll(item)].map(row => [
    row.querySelector(name)?.textContent ?? '',
    row.querySelector<HTMLElement>(swatch)?.style.background ?? ''
  ]);
}

it('shows the same computes in the colours of the session in both charts, progress first', () => {
  const store = storeWith(smallBatch(TWO_RUNS));
  const { el } = mount(document.body, store, { signal: new AbortController().signal, firstRun: 1 });
  const expected = [
    ['add', 'rgb(76, 214, 118)'],
    ['mul', 'rgb(166, 127, 56)']
  ];
  expect([...el.children].map(chart => chart.className)).toEqual([
    'tsk-chart tsk-progress', 'tsk-chart tsk-gantt', 'tsk-chart tsk-series tsk-resources', 'tsk-chart tsk-series tsk-cache'
  ]);
  expect(coloured(el, '.tsk-progress-row', '.tsk-swatch', '.tsk-progress-name')).toEqual(expected);
  expect(coloured(el, '.tsk-gantt-legend [aria-pressed]', '.tsk-swatch', '.tsk-legend-name')).toEqual(expected);
});

it('names the prefixes once, in rows unless asked for the legend', () => {
  const { signal } = new AbortController();
  const kinds = [{}, { prefixes: 'legend' as const }].map(
    options => mount(document.body, new TaskStore(), { signal, ...options }).el.dataset.prefixes
  );
  expect(kinds).toEqual(['rows', 'legend']);
});

it.each([['after it was used', false], ['where its signal was aborted before', true]])('leaves no listener, timer, frame or element behind %s', (_, isGone) => {
  const listeners = countListeners();
  const [store, axis, controller] = [new TaskStore(), new TimeAxis(false), new AbortController()];
  const el = document.body.appendChild(document.createElement('div'));
  if (isGone) {
    controller.abort();
  }
  mount(el, store, { signal: controller.signal, axis });
  store.append(smallBatch({ ...TWO_RUNS, resources: resourceColumns([{ at: 0, rss: 1e9 }, { at: 1, cpu: 50, rss: 2e9 }]), held: heldColumns([{ at: 1, keys: 1, bytes: 9 }]) }));
  vi.advanceTimersByTime(500);
  for (const canvas of el.querySelectorAll('canvas')) {
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: 1 }));
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
  }
  expect([store.listenerCount > 1, listeners.alive() > 10, vi.getTimerCount() > 0]).toEqual(Array(3).fill(!isGone));
  controller.abort();
  axis.show({ kind: 'fit' });
  store.append(smallBatch({ ...TWO_RUNS, seq: 1 }));
  expect([store.listenerCount, listeners.alive(), vi.getTimerCount(), el.childNodes.length]).toEqual([0, 0, 0, 0]);
});

it('each track says what it is, and following the present is offered where there is one', () => {
  const shown = [true, false].map(isOver => {
    const store = storeWith(smallBatch({ nowS: 3, active: false, runs: [smallRun({ stopS: 1, status: 'finished' })] }));
    const { el } = mount(document.body, store, { signal: new AbortController().signal, follow: false, isOver });
    const buttons = [...el.querySelectorAll<HTMLButtonElement>('.tsk-gantt .tsk-toolbar > button:not([hidden])')];
    return [[...el.querySelectorAll('.tsk-track-title')].map(title => title.textContent), buttons.map(button => button.textContent)];
  });
  const titles = ['Tasks', 'CPU and memory', 'Results in memory'];
  expect(shown).toEqual([[titles, ['−', '+', 'Fit', 'Find']], [titles, ['−', '+', 'Fit', 'Follow', 'Find']]]);
});

it.each<[string, (el: HTMLElement, store: TaskStore, options: DashboardOptions) => unknown]>([
  ['a dashboard', mount], ['tracks without progress', (el, store, options) => mountTracks(el, store, ['tasks', 'resources'], options)]
])('one menu of %s saves the recording, and names the computes that it saves', async (_, show) => {
  const store = new TaskStore();
  const ended = { stopS: 1, status: 'finished', executionCount: 4 } as const;
  store.append(smallBatch({ ...TWO_RUNS, runs: [smallRun(ended), smallRun({ ...ended, run: 1 }), smallRun({ ...ended, run: 2, executionCount: 5 })] }));
  const saved: unknown[] = [];
  const keeper = { save: (...asked: unknown[]) => { saved.push(asked); return Promise.resolve(''); }, compare: () => Promise.resolve(), explain: () => Promise.reject(new Error()), story: () => Promise.resolve([]) };
  show(document.body, store, { signal: new AbortController().signal, keeping: new Keeping(keeper), lastRun: 2 });
  vi.advanceTimersByTime(100);
  const items = [...document.querySelectorAll<HTMLButtonElement>('[role=menuitem]')].filter(({ textContent }) => textContent.startsWith('Save') && textContent !== 'Save as PNG');
  items.forEach(item => { item.click(); });
  await Promise.resolve();
  const of = { firstRun: 0, lastRun: 2 };
  expect([items.map(({ textContent }) => textContent), saved]).toEqual([
    ['Save the recording of In [5] and 1 more', 'Save In [5] and 1 more as an HTML page', 'Save In [5] and 1 more as a trace'],
    [[of, 'taskscope'], [of, 'html'], [of, 'trace']]
  ]);
});

it('elements have the colours of the canvas: the accent of the theme, and one red', () => {
  const variables: Record<string, string> = { '--jp-layout-color0': '#ffffff', '--jp-brand-color1': '#e65100' };
  // Elements of jsdom inherit no variables.
  vi.spyOn(window, 'getComputedStyle').mockReturnValue({ getPropertyValue: (name: string) => variables[name] ?? '' } as CSSStyleDeclaration);
  const { el } = mount(document.body, new TaskStore(), { signal: new AbortController().signal });
  vi.advanceTimersByTime(100);
  const charts = [...el.querySelectorAll<HTMLElement>(':scope > .tsk-chart')];
  expect(charts.map(({ style }) => style.getPropertyValue('--tsk-accent'))).toEqual(charts.map(() => 'rgb(230, 81, 0)'));
  expect([...SHARED_CSS.matchAll(/--tsk-error: (.*);/g)].map(([, red]) => red)).toEqual([LIGHT.error, DARK.error]);
});

it('in brief it is the bar, the lanes and one line of numbers, and the host hears who wants more', () => {
  const store = storeWith(smallBatch({
    ...TWO_RUNS,
    resources: resourceColumns([{ at: 0.5, rss: 1 }, { at: 1, cpu: 50, rss: 2 }], { limitBytes: 1e9 })
  }));
  const heard: boolean[] = [];
  const dashboard = mount(document.body, store, { signal: new AbortController().signal, brief: true, onBrief: brief => { heard.push(brief); } });
  const { el } = dashboard;
  vi.advanceTimersByTime(100);
  const parts = (): unknown[] => [...el.querySelectorAll<HTMLElement>(':scope > .tsk-chart')].slice(1).map(({ dataset, hidden }) => [dataset.part, hidden]);
  const buttons = (): (string | null)[] => [...el.querySelectorAll('.tsk-unfold button')].map(button => `${button.textContent} ${button.getAttribute('aria-expanded')}`);
  expect([el.hasAttribute('data-brief'), parts(), buttons()]).toEqual([true, [['all', false], ['head', false], ['none', true]], ['More charts false']]);
  el.querySelector<HTMLButtonElement>('.tsk-unfold button')?.click();
  expect(heard).toEqual([false]);
  dashboard.setBrief(false);
  vi.advanceTimersByTime(100);
  expect([el.hasAttribute('data-brief'), parts(), buttons()]).toEqual([false, [['all', false], ['all', false], ['all', false]], ['Fewer charts true']]);
});

describe('of two computes, the last of which has just begun,', () => {
  const samples = resourceColumns([{ at: 0.2, rss: 1e9 }, { at: 0.8, rss: 2e9 }, { at: 2.2, rss: 5e9 }, { at: 2.8, rss: 6e9 }]);

  function shown(): { readonly store: TaskStore; readonly axis: TimeAxis; readonly said: () => unknown; readonly canvas: (track: string) => HTMLElement } {
    const [store, axis] = [new TaskStore({ clockMs: () => 0 }), new TimeAxis(false)];
    store.append(smallBatch({ ...TWO_RUNS, resources: samples }));
    const { el } = mount(document.body, store, { signal: new AbortController().signal, axis, shows: 'now' });
    vi.advanceTimersByTime(100);
    const text = (selector: string): string | undefined => el.querySelector(selector)?.textContent;
    const said = (): unknown => {
      vi.advanceTimersByTime(100);
      const memory = [...el.querySelectorAll('.tsk-resources [role=meter]')].at(1)?.getAttribute('aria-valuetext');
      return [text('.tsk-progress-count'), memory?.split(/, (?=limit)|,? peak| ·/)[0], axis.range];
    };
    return { store, axis, said, canvas: track => el.querySelector<HTMLElement>(`${track} canvas`) ?? el };
  }

  it('a time that was selected in one is forgotten where the other is shown', () => {
    const { axis, said } = shown();
    const [early, late] = [{ startS: 0.2, stopS: 0.4 }, { startS: 2.2, stopS: 2.4 }];
    axis.choose(0);
    axis.select(early);
    const before = said();
    axis.show({ kind: 'free', span: { startS: 0, stopS: 0.5 } });
    const zoomed = said();
    axis.choose(null);
    axis.select(late);
    axis.show({ kind: 'fit' });
    const other = said();
    expect([before, zoomed, other]).toEqual([['10 of 10 tasks', '2 GB', early], ['10 of 10 tasks', '2 GB', early], ['4 of 20 tasks', '6 GB', late]]);
    axis.choose(0);
    axis.select(late);
    expect(said()).toEqual(['10 of 10 tasks', '2 GB', null]);
  });

  it('bar, lanes and values are of the one that a person chooses while time is paused', () => {
    const { axis, store, said } = shown();
    axis.pauseAt(3);
    store.append(smallBatch({ seq: 1, nowS: 4, runs: [smallRun({ run: 1, startS: 2, stopS: 3.5, status: 'finished' }), smallRun({ run: 2, startS: 3.6 })], progress: [smallProgress({ run: 2 })] }));
    const texts = [said()];
    for (const chosen of [0, null]) {
      axis.choose(chosen);
      texts.push(said());
    }
    axis.pauseAt(null);
    expect([...texts, said()]).toEqual([
      ['4 of 20 tasks', '6 GB', null], ['10 of 10 tasks', '2 GB', null], ['4 of 20 tasks', '6 GB', null], ['0 of 10 tasks', undefined, null]
    ]);
  });

  it('values are read out in the chart in which keys move the cursor, until the pointer is in any', () => {
    const { canvas } = shown();
    const readout = (): unknown => {
      vi.advanceTimersByTime(100);
      const box = document.querySelector<HTMLElement>('.tsk-resources .tsk-series-readout');
      return [box?.hidden, box?.getAttribute('aria-live')];
    };
    canvas('.tsk-resources').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true }));
    const keyed = readout();
    canvas('.tsk-gantt').dispatchEvent(new MouseEvent('pointermove', { clientX: 300, clientY: 10, bubbles: true }));
    expect([keyed, readout()]).toEqual([[false, 'polite'], [true, 'off']]);
  });
});

it('shows the computes of another runRange when it is given one', () => {
  const store = storeWith(smallBatch(TWO_RUNS));
  const end = new AbortController();
  const dashboard = mount(document.body, store, { signal: end.signal, firstRun: 0, lastRun: 0 });
  const shown = (): unknown => {
    vi.runOnlyPendingTimers();
    return [dashboard.el.querySelector('.tsk-progress-count')?.textContent, dashboard.timeline.timeRange()?.map(Math.round)];
  };
  const before = shown();
  dashboard.setRunRange({ firstRun: 0, lastRun: 1 });
  expect([before, shown()]).toEqual([['10 of 10 tasks', [0, 1]], ['14 of 30 tasks', [0, 3]]]);
  end.abort();
});
