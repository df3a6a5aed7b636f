import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { mount } from '../../../src/charts/progress/view';
import { type StopRun, stopWith } from '../../../src/charts/progress/stopper';
import { TaskStore } from '../../../src/store';
import type { Run, StopWay } from '../../../src/wire';
import { smallBatch, smallProgress, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

let end = new AbortController();
let store = new TaskStore();

beforeEach(() => {
  fakeTime();
  store = new TaskStore();
  end = new AbortController();
});

afterEach(() => { end.abort(); });

const RUN = smallRun({ executionCount: 3 });

/** Have the kernel say that these computes run, and how each can be stopped. */
function append(seq: number, ways: Partial<Record<number, StopWay>>, runs: readonly Run[] = [RUN]): void {
  const stops = Object.entries(ways).map(([run, way]) => ({ run: Number(run), way: way as StopWay }));
  const progress = runs.map(({ run }) => smallProgress({ run, total: 10, finished: 3 + run, erred: 1 }));
  store.append(smallBatch({ seq, nowS: 2, active: runs.some(run => run.status === 'running'), runs: [...runs], stops, progress }));
  vi.advanceTimersToNextFrame();
}

/** A chart while a compute runs, and its button. */
function made(way: StopWay | null, stop?: StopRun): HTMLButtonElement {
  mount(document.body, store, { signal: end.signal, ...(stop === undefined ? {} : { stop: stopWith(stop) }) });
  append(0, way === null ? {} : { 0: way });
  return document.querySelector<HTMLButtonElement>('.tsk-progress-stop')!;
}

const stopped = (): Promise<null> => Promise.resolve(null);

function shown(button: HTMLButtonElement | null): (string | boolean | null)[] {
  const note = document.querySelector<HTMLElement>('.tsk-progress-note');
  return [button === null || button.hidden ? 'hidden' : button.textContent, button?.disabled ?? null, note?.hidden === false ? note.textContent : ''];
}

function asked(): string[] {
  const question = document.querySelector<HTMLElement>('[role=alertdialog]:not([hidden])');
  return question === null ? [] : [...question.querySelectorAll('span, button')].map(part => part.textContent);
}

function answer(text: string): void {
  [...document.querySelectorAll<HTMLButtonElement>('[role=alertdialog] button')].find(button => button.textContent === text)!.click();
}

describe('the button that stops computes', () => {
  it('is there only while something runs', () => {
    const button = made('interrupt', stopped);
    const running = shown(button);
    append(1, {}, [{ ...RUN, status: 'finished', stopS: 2 }]);
    expect([running, shown(button)]).toEqual([['Stop', false, ''], ['hidden', true, '']]);
  });

  it('is not there where nothing can be stopped', () => {
    expect(shown(made('interrupt'))).toEqual(['hidden', null, '']);
  });

  it.each([
    ['interrupt', 'Stop', false, 'Interrupt the cell that computes'],
    ['cancel', 'Stop', false, 'Cancel its futures, after a question'],
    ['asked', 'Stopping…', true, 'It was asked to end'],
    ['thread', 'Stop', true, 'It runs in a thread of yours, which cannot be interrupted'],
    [null, 'Stop', true, 'The kernel has not said how this can be stopped']
  ] as const)('says what it does, or why it does nothing: %s', (way, text, isDisabled, title) => {
    const button = made(way, stopped);
    expect([...shown(button), button.title]).toEqual([text, isDisabled, '', title]);
  });

  it('is stopping until the compute has ended, and asks again only if it is pressed after a while', async () => {
    const stop = vi.fn(stopped);
    const button = made('interrupt', stop);
    button.click();
    button.click();
    await vi.advanceTimersByTimeAsync(4_900);
    append(1, {});
    expect([stop.mock.calls, ...shown(button)]).toEqual([[[0, 'interrupt']], 'Stopping…', true, '']);
    await vi.advanceTimersByTimeAsync(400);
    append(2, { 0: 'asked' });
    expect([...shown(button), button.title]).toEqual(['Stopping…', false, '', 'It was asked to end: press to ask again']);
    button.click();
    expect([stop.mock.calls.length, ...shown(button)]).toEqual([2, 'Stopping…', true, '']);
    append(3, {}, [{ ...RUN, status: 'interrupted', stopS: 2 }]);
    expect(shown(button)).toEqual(['hidden', true, '']);
  });

  it('is ready for the next compute when this one has ended', async () => {
    const button = made('interrupt', stopped);
    button.click();
    await vi.advanceTimersByTimeAsync(100);
    append(1, {}, [{ ...RUN, status: 'interrupted', stopS: 2 }]);
    append(2, { 0: 'interrupt' });
    expect(shown(button)).toEqual(['Stop', false, '']);
  });

  it('is ready at once for what goes on in the background after its cell was interrupted', async () => {
    const button = made('interrupt', stopped);
    button.click();
    await vi.advanceTimersByTimeAsync(100);
    append(1, { 0: 'cancel' });
    expect([...shown(button), button.title]).toEqual(['Stop', false, '', 'Cancel its futures, after a question']);
  });

  it('says why it did not stop', async () => {
    const button = made('interrupt', () => Promise.reject(new Error('<b>gone</b>')));
    button.click();
    await vi.advanceTimersByTimeAsync(1);
    expect(shown(button)).toEqual(['Stop', false, 'Not stopped: Error: <b>gone</b>']);
  });

  it('says why it did not stop until another compute runs, and nothing of one that has ended', async () => {
    const refused = (): Promise<string> => Promise.resolve('its cell runs something else');
    const button = made('interrupt', refused);
    button.click();
    await vi.advanceTimersByTimeAsync(1);
    const said = shown(button);
    append(1, { 1: 'interrupt' }, [{ ...RUN, status: 'finished', stopS: 2 }, smallRun({ run: 1 })]);
    const ofNext = shown(button);
    button.click();
    append(2, {}, [{ ...RUN, status: 'finished', stopS: 2 }, smallRun({ run: 1, status: 'finished', stopS: 2 })]);
    await vi.advanceTimersByTimeAsync(1);
    expect([said, ofNext, shown(button)]).toEqual([
      ['Stop', false, 'Not stopped: its cell runs something else'], ['Stop', false, ''], ['hidden', true, '']
    ]);
  });
});

describe('the question before futures are cancelled', () => {
  const LOST = 'In [3] goes on in the background. Cancelling it loses its 6 unfinished tasks, and what waits for them fails.';

  it('says what is lost, and is forgotten where it may run on', () => {
    const stop = vi.fn(stopped);
    const button = made('cancel', stop);
    button.click();
    const [question, focused] = [asked(), document.activeElement?.textContent];
    answer('Let it run');
    expect([question, focused, asked(), document.activeElement === button, stop.mock.calls]).toEqual([
      [LOST, 'Cancel its futures', 'Let it run'], 'Let it run', [], true, []
    ]);
  });

  it('cancels after it', async () => {
    const stop = vi.fn(stopped);
    const button = made('cancel', stop);
    button.click();
    answer('Cancel its futures');
    await vi.advanceTimersByTimeAsync(1);
    expect([stop.mock.calls, asked(), ...shown(button)]).toEqual([[[0, 'cancel']], [], 'Stopping…', true, '']);
  });

  it('is closed by Escape, and by the end of what it is about', () => {
    const button = made('cancel', stopped);
    const { length: nClosed } = asked();
    button.click();
    const { length: nOpen } = asked();
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    const { length: nEscaped } = asked();
    button.click();
    append(1, {}, [{ ...RUN, status: 'finished', stopS: 2 }]);
    expect([nClosed, nOpen, nEscaped, asked().length]).toEqual([0, 3, 0, 0]);
  });

  it('lets a person choose where several computes run', async () => {
    const stop = vi.fn(stopped);
    const button = made('cancel', stop);
    append(1, { 0: 'cancel', 1: 'interrupt' }, [RUN, smallRun({ run: 1, label: 'qr', executionCount: 5 })]);
    button.click();
    const question = asked();
    answer('Interrupt the cell');
    await vi.advanceTimersByTimeAsync(1);
    expect([question, stop.mock.calls]).toEqual([
      ['qr · In [5] runs, with 5 unfinished tasks.', 'Interrupt the cell', LOST, 'Cancel its futures', 'Let it run'],
      [[1, 'interrupt']]
    ]);
  });

  it('asks at once about futures that outlive their cell, which runs', async () => {
    const stop = vi.fn(stopped);
    const button = made('either', stop);
    button.click();
    const question = asked();
    answer('Cancel its futures');
    await vi.advanceTimersByTimeAsync(1);
    expect([question, stop.mock.calls, ...shown(button)]).toEqual([
      [
        'In [3] runs. Interrupting it leaves its 6 unfinished tasks to go on in the background.', 'Interrupt the cell',
        'Cancelling its futures loses its 6 unfinished tasks, and what waits for them fails.', 'Cancel its futures', 'Let it run'
      ],
      [[0, 'cancel']], 'Stopping…', true, ''
    ]);
  });
});
