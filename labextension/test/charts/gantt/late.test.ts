/** What the chart does before its second script is here, and where it never comes. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { smallProgress, smallRun } from '../small-batch';

beforeEach(() => {
  vi.resetModules();
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
});

afterEach(() => {
  vi.doUnmock('../../../src/charts/gantt/extras');
  document.body.replaceChildren();
});

async function mounted(signal: AbortSignal): Promise<HTMLElement> {
  const { mount } = await import('../../../src/charts/gantt');
  const store = new TaskStore();
  store.append(batchOf([{ start: 0, stop: 5, key: 'only' }], {
    nowS: 10, active: false, runs: [smallRun({ startS: 0, stopS: 10, status: 'finished' })], progress: [smallProgress({ prefix: 'inc', finished: 1 })]
  }));
  const el = document.createElement('div');
  document.body.append(el);
  mount(el, store, { signal });
  return el;
}

const press = (el: HTMLElement, key: string): unknown => el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key }));
const rows = (el: HTMLElement): number => el.querySelectorAll('tr').length;

it('what a person asked for before it was here is done when it comes', async () => {
  const controller = new AbortController();
  const el = await mounted(controller.signal);
  press(el, '/');
  const before = [el.querySelector('input'), rows(el), el.querySelector('.tsk-gantt-state')?.textContent];
  await vi.waitUntil(() => el.querySelector('input') !== null, { timeout: 30_000 });
  expect([before, document.activeElement, rows(el), el.querySelectorAll('.tsk-gantt-help dt').length]).toEqual([
    [null, 0, '1 task · 1 lane'], el.querySelector('input'), 4, 14
  ]);
  controller.abort();
});

it('a chart that is gone when it comes stays gone', async () => {
  const controller = new AbortController();
  const el = await mounted(controller.signal);
  const root = el.firstElementChild;
  controller.abort();
  const { loadExtras } = await import('../../../src/charts/gantt/late');
  await loadExtras();
  expect([el.childElementCount, root?.querySelector('input')]).toEqual([0, null]);
});

it('where it cannot be loaded the picture stays, and the chart says so', async () => {
  vi.doMock('../../../src/charts/gantt/extras', () => { throw new Error('no such file'); });
  const controller = new AbortController();
  const el = await mounted(controller.signal);
  const notice = (): string => el.querySelector('.tsk-notice')?.textContent ?? '';
  await vi.waitUntil(() => notice() !== '', { timeout: 30_000 });
  expect(notice()).toMatch(/^Part of the chart could not be loaded: .*\. Reload the page\.$/s);
  press(el, '?');
  expect([el.querySelector('.tsk-gantt-state')?.textContent, el.querySelector('input')]).toEqual(['1 task · 1 lane', null]);
  controller.abort();
});
