import { beforeEach, expect, it, vi } from 'vitest';

import { findingsOf } from '../../../../src/charts/tasks/why/findings';
import { mountTracks } from '../../../../src/charts/tracks';
import type { StoryLine } from '../../../../src/charts/ui/keeping';
import { batchOf, storeWith } from '../../../store/rows';
import { smallRun } from '../../small-batch';
import { fakeTime } from '../../../fake-time';

beforeEach(fakeTime);

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
