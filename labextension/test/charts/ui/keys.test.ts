/** Which keys a chart in a notebook keeps from it. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { mount } from '../../../src/charts/dashboard';
import { batchOf, storeWith } from '../../store/rows';
import { smallProgress, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

const NOTEBOOK = ['b', 'a', 'd', 'Escape', 'Enter', 'ArrowDown', 'x'];

beforeEach(fakeTime);

let end = new AbortController();

afterEach(() => {
  end.abort();
  end = new AbortController();
});

/** A dashboard in the output of a cell, and the keys pressed on an element of it that reach the notebook. */
function inCell(): { cell: HTMLElement; el: HTMLElement; heard: (target: Element | null, keys?: readonly string[], init?: KeyboardEventInit) => string[] } {
  const cell = document.createElement('div');
  cell.className = 'jp-Cell';
  cell.tabIndex = -1;
  document.body.append(cell);
  const store = storeWith(batchOf([{ start: 0, stop: 5 }], {
    nowS: 10, active: true, runs: [smallRun()], progress: [smallProgress({ prefix: 'inc', finished: 1 })]
  }), { clockMs: () => performance.now() });
  const { el } = mount(cell, store, { signal: end.signal });
  vi.advanceTimersByTime(50);
  const heard = (target: Element | null, keys: readonly string[] = NOTEBOOK, init: KeyboardEventInit = {}): string[] => {
    const reached: string[] = [];
    const onKey = (event: KeyboardEvent): void => { reached.push(event.key); };
    document.addEventListener('keydown', onKey);
    keys.forEach(key => target?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init })));
    document.removeEventListener('keydown', onKey);
    return reached;
  };
  return { cell, el, heard };
}

const press = (button: Element): void => {
  (button as HTMLElement).focus();
  button.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
};

it('an item of a menu that was clicked gives the focus to the cell', () => {
  const { cell, el } = inCell();
  const more = el.querySelector<HTMLButtonElement>('.tsk-gantt .tsk-menu > button');
  if (more !== null) {
    press(more);
  }
  const item = [...el.querySelectorAll('.tsk-gantt [role=menuitem]')].find(({ textContent }) => textContent === 'Show as tables');
  if (item !== undefined) {
    press(item);
  }
  expect(document.activeElement).toBe(cell);
});

it('a button that was reached by Tab keeps what presses it, and no other key', () => {
  const { el, heard } = inCell();
  const button = el.querySelector('.tsk-gantt .tsk-toolbar button');
  expect([heard(button), heard(button, ['Enter', ' '], { shiftKey: true }), heard(button, ['s', 'Enter'], { ctrlKey: true }), heard(button, ['ArrowLeft'])])
    .toEqual([['b', 'a', 'd', 'Escape', 'ArrowDown', 'x'], ['Enter', ' '], ['s', 'Enter'], []]);
});

it('a canvas keeps the keys that it uses, and a field all that a person types', () => {
  const { el, heard } = inCell();
  expect([heard(el.querySelector('.tsk-gantt canvas')), heard(el.querySelector('input')), heard(el.querySelector('input'), ['s'], { ctrlKey: true })])
    .toEqual([['b', 'Enter'], [], ['s']]);
});
