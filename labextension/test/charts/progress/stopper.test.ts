import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { mount } from '../../../src/charts/progress';
import { TaskStore } from '../../../src/store';
import { smallBatch, smallRun } from '../small-batch';

let end = new AbortController();
let store = new TaskStore();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'requestAnimationFrame', 'cancelAnimationFrame', 'performance'] });
  store = new TaskStore();
  end = new AbortController();
});

afterEach(() => {
  end.abort();
  document.body.replaceChildren();
  vi.useRealTimers();
});

function append(seq: number, active: boolean): void {
  store.append(smallBatch({ seq, nowS: 2, active, runs: [smallRun(active ? {} : { status: 'finished', stopS: 2 })] }));
  vi.advanceTimersToNextFrame();
}

/** A chart while a compute runs, and its button. */
function made(stop?: () => Promise<string | null>): HTMLButtonElement {
  mount(document.body, store, { signal: end.signal, ...(stop === undefined ? {} : { stop }) });
  append(0, true);
  return document.querySelector<HTMLButtonElement>('.tsk-progress-stop')!;
}

function shown(button: HTMLButtonElement): (string | boolean)[] {
  const note = document.querySelector<HTMLElement>('.tsk-progress-note');
  return [button.hidden ? 'hidden' : button.textContent, button.disabled, note?.hidden === false ? note.textContent : ''];
}

it('is there only while something runs that can be stopped', () => {
  const button = made(() => Promise.resolve(null));
  const running = shown(button);
  append(1, false);
  expect([running, shown(button)]).toEqual([['Stop', false, ''], ['hidden', false, '']]);
});

it('is not there where nothing can be stopped', () => {
  expect(shown(made())).toEqual(['hidden', false, '']);
});

it('asks once, and again only after a while without an end', async () => {
  const stop = vi.fn(() => Promise.resolve(null));
  const button = made(stop);
  button.click();
  button.click();
  await vi.advanceTimersByTimeAsync(4_900);
  expect([stop.mock.calls.length, ...shown(button)]).toEqual([1, 'Stopping…', true, '']);
  await vi.advanceTimersByTimeAsync(200);
  expect(shown(button)).toEqual(['Stop', false, '']);
});

it('is ready for the next compute when this one has ended', async () => {
  const button = made(() => Promise.resolve(null));
  button.click();
  await vi.advanceTimersByTimeAsync(100);
  append(1, false);
  append(2, true);
  expect(shown(button)).toEqual(['Stop', false, '']);
});

it.each([
  [() => Promise.resolve('nothing is running'), 'Not stopped: nothing is running'],
  [() => Promise.reject(new Error('<b>gone</b>')), 'Not stopped: Error: <b>gone</b>']
])('says why it did not stop', async (stop, text) => {
  const button = made(stop);
  button.click();
  await vi.advanceTimersByTimeAsync(1);
  expect(shown(button)).toEqual(['Stop', false, text]);
});

it('leaves no timer behind', () => {
  made(() => Promise.resolve(null)).click();
  const nTimers = vi.getTimerCount();
  end.abort();
  expect([nTimers > 0, vi.getTimerCount()]).toEqual([true, 0]);
});
