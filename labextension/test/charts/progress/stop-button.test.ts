import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { StopButton } from '../../../src/charts/progress/stop-button';
import { english } from '../../../src/lib/translate';
import { countListeners } from '../listener-count';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function shown({ el, note }: StopButton): (string | boolean)[] {
  return [el.hidden ? 'hidden' : el.textContent, el.disabled, note.hidden ? '' : note.textContent];
}

function made(stop: (() => Promise<string | null>) | null, controller = new AbortController()): StopButton {
  const button = new StopButton({ signal: controller.signal, translate: english, stop });
  button.show(true);
  return button;
}

it('is there only while something runs that can be stopped', () => {
  const button = made(() => Promise.resolve(null));
  const running = shown(button);
  button.show(false);
  expect([running, shown(button), shown(made(null))]).toEqual([
    ['Stop', false, ''], ['hidden', false, ''], ['hidden', false, '']
  ]);
});

it('asks once, and again only after a while without an end', async () => {
  const stop = vi.fn(() => Promise.resolve(null));
  const button = made(stop);
  button.el.click();
  button.el.click();
  await vi.advanceTimersByTimeAsync(4_900);
  expect([stop.mock.calls.length, ...shown(button)]).toEqual([1, 'Stopping…', true, '']);
  await vi.advanceTimersByTimeAsync(200);
  expect(shown(button)).toEqual(['Stop', false, '']);
});

it('is ready for the next compute when this one has ended', async () => {
  const button = made(() => Promise.resolve(null));
  button.el.click();
  await vi.advanceTimersByTimeAsync(100);
  button.show(false);
  button.show(true);
  expect(shown(button)).toEqual(['Stop', false, '']);
});

it.each([
  [() => Promise.resolve('nothing is running'), 'Not stopped: nothing is running'],
  [() => Promise.reject(new Error('<b>gone</b>')), 'Not stopped: Error: <b>gone</b>']
])('says why it did not stop', async (stop, text) => {
  const button = made(stop);
  button.el.click();
  await vi.advanceTimersByTimeAsync(1);
  expect(shown(button)).toEqual(['Stop', false, text]);
});

it('leaves no listener and no timer behind', () => {
  const listeners = countListeners();
  const controller = new AbortController();
  made(() => Promise.resolve(null), controller).el.click();
  expect([listeners.alive(), vi.getTimerCount()]).toEqual([1, 1]);
  controller.abort();
  expect([listeners.alive(), vi.getTimerCount()]).toEqual([0, 0]);
});
