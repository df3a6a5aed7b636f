import { beforeEach, describe, expect, it, vi } from 'vitest';

import { mountTracks } from '../../../../src/charts/tracks';
import { type LinkRows, MAX_LINKS } from '../../../../src/wire';
import type { TaskStore } from '../../../../src/store';
import { type Row, batchOf, storeWith } from '../../../store/rows';
import { smallRun } from '../../small-batch';
import { fakeTime } from '../../../fake-time';
import { findingsOf } from '../../../../src/charts/tasks/why/findings';
import type { StoryLine } from '../../../../src/charts/ui/keeping';

beforeEach(fakeTime);

/** Rows 0 to 2 are needed by 3, which 4 and 5 need; one more needs it and runs; all of it in ten seconds. */
const ROWS: Row[] = [
  { start: 0, stop: 1, key: 'a' }, { start: 0, stop: 3, lane: 1, key: 'b' }, { start: 1, stop: 2, key: 'c' }, { start: 3, stop: 5, key: 'd' },
  { start: 6, stop: 7, lane: 1, key: 'late' }, { start: 5, stop: 6, key: 'early' }
];
const row = (i: number): { row: number; key: string } => ({ row: i, key: ROWS[i]?.key as string });
const none = { dependencies: [], nDependencies: 0, dependents: [], nDependents: 0 };
const LINKS: Record<number, LinkRows> = {
  1: { ...none, dependents: [row(3)], nDependents: 1 },
  3: {
    dependencies: [{ row: null, key: 'data' }, row(0), row(1), row(2)], nDependencies: 4,
    dependents: [row(4), { row: null, key: 'open' }, row(5)], nDependents: 3
  },
  5: { ...none, dependencies: [row(3)], nDependencies: 1 }
};

function mounted(links = LINKS, isAnswered = true): { store: TaskStore; el: HTMLElement; press: (key: string, shiftKey?: boolean) => (string | null)[]; card: () => string[]; range: () => (number | undefined)[] } {
  const store = storeWith(batchOf(ROWS, {
    runs: [smallRun({ startS: 0 })], nowS: 10, active: true,
    running: [{ run: 0, lane: 1, group: 0, keyText: 'open', startS: 7.5 }]
  }), { ask: number => (isAnswered ? Promise.resolve(links[number] ?? none) : new Promise(() => undefined)) });
  const el = document.body.appendChild(document.createElement('div'));
  const chart = mountTracks(el, store, ['tasks'], { signal: new AbortController().signal });
  vi.advanceTimersByTime(50);
  return {
    store, el,
    press: (key, shiftKey = false) => {
      el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey }));
      vi.advanceTimersByTime(50);
      return [store.selection.current?.key ?? null, el.querySelector('.tsk-gantt-card .tsk-gantt-tip-note')?.textContent ?? null];
    },
    card: () => [...el.querySelectorAll('.tsk-gantt-links')].map(list => {
      const items = [...list.querySelectorAll('li')].map(item => (item.querySelector('button') === null ? item.textContent : `[${item.textContent}]`));
      return `${text(list, 'span')}: ${items.join(' ')}${text(list, 'ul + span')}`;
    }),
    range: () => chart.timeRange()?.map(Math.round) ?? []
  };
}

const text = (el: Element, selector: string): string => el.querySelector(selector)?.textContent ?? '';

async function select({ store }: { store: TaskStore }, number: number): Promise<void> {
  store.selection.select({ key: ROWS[number]?.key as string, ref: { lane: ROWS[number]?.lane ?? 0, row: number, startS: ROWS[number]?.start ?? 0 } }, null);
  await vi.advanceTimersByTimeAsync(50);
}

describe('the neighbours of the selected task', () => {
  it('are links in its card: the last to end first, the first to begin first; data is none', async () => {
    const chart = mounted();
    await select(chart, 3);
    expect(chart.card()).toEqual(['Depends on 4 tasks: [b] [c] [a] data', 'Needed by 3 tasks: [early] [late] [open]']);
  });

  it('a link selects its task, pans to it where it is out of sight, and gives the keys back to the chart', async () => {
    const chart = mounted();
    await select(chart, 3);
    chart.press('+');
    chart.press('+');
    chart.press('+');
    const before = chart.range();
    [...chart.el.querySelectorAll<HTMLButtonElement>('.tsk-gantt-links button')].find(({ textContent }) => textContent === 'a')?.click();
    await vi.advanceTimersByTimeAsync(50);
    expect([before, chart.range(), chart.store.selection.current?.key, document.activeElement?.tagName]).toEqual([[7, 10], [0, 3], 'a', 'CANVAS']);
  });

  it('those that are not told are counted, and why', async () => {
    const many = Array.from({ length: MAX_LINKS }, () => ({ row: null, key: 'x' }));
    const chart = mounted({ 3: { dependencies: [row(0)], nDependencies: 3, dependents: many, nDependents: 5000 } });
    await select(chart, 3);
    const [first, second] = chart.card();
    expect([first, second?.slice(0, 23), second?.slice(-38)]).toEqual([
      'Depends on 3 tasks: [a]and 2 of which there is nothing to show: data, or tasks that did not run', 'Needed by 5,000 tasks: ', 'x xand 4,800 more: at most 200 are listed'.slice(-38)
    ]);
  });

  it('says that the kernel does not answer once it is late, and nothing before', async () => {
    const chart = mounted(LINKS, false);
    await select(chart, 3);
    const early = chart.press('y');
    await vi.advanceTimersByTimeAsync(4000);
    expect([chart.card(), early, chart.press('y')]).toEqual([
      [], ['d', ''], ['d', 'Dependencies: the kernel does not answer while it is busy; they come when it does.']
    ]);
  });
});

/** Two tasks, the first of which is selected, and a kernel that tells these stories. */
async function selected(stories?: Readonly<Record<string, readonly StoryLine[]>>) {
  const store = storeWith(batchOf([{ start: 0, stop: 1, key: 'a' }, { start: 1, stop: 2, key: 'b' }], { runs: [smallRun({ startS: 0 })], nowS: 2 }));
  const el = document.body.appendChild(document.createElement('div'));
  const asked: unknown[] = [];
  const story = (run: number, key: string): Promise<readonly StoryLine[]> => {
    asked.push([run, key]);
    return stories?.[key] === undefined ? Promise.reject(new Error('no longer kept')) : Promise.resolve(stories[key]);
  };
  mountTracks(el, store, ['tasks'], { signal: new AbortController().signal, ...(stories === undefined ? {} : { findings: findingsOf({ story, explain: () => Promise.resolve({ kind: 'none', reason: '' }) }) }) });
  const settle = async (): Promise<void> => { await vi.advanceTimersByTimeAsync(50); };
  const pressKey = async (key: string): Promise<void> => {
    el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key }));
    await settle();
  };
  const button = (): HTMLButtonElement | undefined => [...el.querySelectorAll<HTMLButtonElement>('.tsk-gantt-card button')].find(({ textContent }) => textContent === 'Story');
  const press = async (): Promise<void> => {
    button()?.click();
    await settle();
  };
  const lines = (): string[] => [...el.querySelectorAll('.tsk-gantt-story tr')].map(({ children }) => [...children].map(({ textContent }) => textContent).join(' | '));
  await settle();
  await pressKey('n');
  await pressKey('p');
  return { asked, pressKey, press, lines, button };
}

it('tells the story of the selected task when it is wanted, and of the next one when that is', async () => {
  const { asked, pressKey, press, lines, button } = await selected({ a: [['0 s', 'started'], ['1 s', 'finished\nafter 1 s']] });
  expect([lines(), button()?.getAttribute('aria-pressed')]).toEqual([[], 'false']);
  await press();
  expect([lines(), button()?.getAttribute('aria-pressed')]).toEqual([['0 s | started', '1 s | finished\\nafter 1 s'], 'true']);
  await pressKey('n');
  expect(lines()).toEqual([]);
  await press();
  expect([lines(), asked]).toEqual([[' | no longer kept'], [[0, 'a'], [0, 'b']]]);
  await press();
  expect(lines()).toEqual([]);
});

it('offers none where no kernel is', async () => {
  expect((await selected()).button()).toBeUndefined();
});
