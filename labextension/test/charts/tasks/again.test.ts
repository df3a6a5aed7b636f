/** What exists only in the page is used a first, a second and a third time in one chart. */
import { beforeEach, expect, it, vi } from 'vitest';

import { mountTracks } from '../../../src/charts/tracks';
import { TaskStore } from '../../../src/store';
import type { RunStatus } from '../../../src/wire';
import { type Row, batchOf } from '../../store/rows';
import { smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

const CODES: Partial<Record<RunStatus, number>> = { erred: 1, interrupted: 2 };

it.each<[RunStatus]>([['finished'], ['erred'], ['interrupted']])('finding, cards and selected times are of each compute, with one in the middle that is %s', middle => {
  const store = new TaskStore({ clockMs: () => 0 });
  const el = document.body.appendChild(document.createElement('div'));
  const controller = new AbortController();
  mountTracks(el, store, ['tasks'], { signal: controller.signal });
  const canvas = el.querySelector('canvas')!;
  const text = (selector: string): string | null => {
    const found = el.querySelector(selector);
    return found?.closest('[hidden]') === null ? found.textContent : null;
  };
  const press = (target: HTMLElement, key: string): void => {
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    vi.runAllTimers();
  };

  const uses = (['finished', middle, 'finished'] as const).map((status, use) => {
    const startS = 10 * use;
    const rows: Row[] = [
      { run: use, start: startS, stop: startS + 1, key: `first of ${use}` },
      { run: use, start: startS + 1, stop: startS + 3, group: 1, key: `last of ${use}`, status: CODES[status] ?? 0 }
    ];
    store.append(batchOf(rows, {
      seq: use, first: 2 * use, nowS: startS + 5, active: false,
      runs: [smallRun({ run: use, startS, stopS: startS + 3, nTasks: 2, status })]
    }));
    vi.runAllTimers();

    press(canvas, '/');
    const input = el.querySelector<HTMLInputElement>('input[type=search]')!;
    input.value = `last of ${use}`;
    input.dispatchEvent(new Event('input'));
    vi.runAllTimers();
    press(input, 'Enter');
    const found = [text('.tsk-gantt-find [role=status]'), text('.tsk-gantt-card .tsk-gantt-tip-key')];
    press(input, 'Escape');
    press(canvas, 'x');
    const range = text('.tsk-gantt-range p');
    press(canvas, 'Escape');
    press(canvas, 'Escape');
    return [...found, range, text('.tsk-gantt-range p'), text('.tsk-gantt-card')];
  });
  controller.abort();

  expect(uses).toEqual([0, 1, 2].map(use => ['1 of 1 matches', `last of ${use}`, `${use === 0 ? '' : use}0 s to ${use === 0 ? '' : use}3 s (3 s): 2 tasks`, null, null]));
});
