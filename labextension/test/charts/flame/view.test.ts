import { afterEach, expect, it } from 'vitest';

import { mount } from '../../../src/charts/flame/view';
import { decodeFlame } from '../../../src/charts/flame/data';
import { wireOf } from './flame-data';

const end = new AbortController();

afterEach(() => { document.body.replaceChildren(); });

function shown(): HTMLElement {
  const chart = mount(document.body, { current: () => () => '#888888', subscribe: () => undefined }, { signal: end.signal });
  chart.show(decodeFlame(wireOf([{ stack: ['f', 'g'], seconds: 3 }, { stack: ['h'], seconds: 1, bin: 1 }], 2)), null);
  return document.body;
}

it('a key pressed between new samples and the next painting moves as any other', () => {
  const chart = mount(document.body, { current: () => () => '#888888', subscribe: () => undefined }, { signal: end.signal });
  const show = (seconds: number): void => { chart.show(decodeFlame(wireOf([{ stack: ['f'], seconds }])), null); };
  show(1);
  const canvas = document.querySelector('canvas') as HTMLCanvasElement;
  Object.defineProperty(canvas.parentElement, 'clientWidth', { value: 800 });
  const down = (): string | undefined => {
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
    return document.querySelector('.tsk-flame-said')?.textContent.split(':').at(0);
  };
  const first = down();
  show(2);
  expect([first, down()]).toEqual(['tasks', 'f (f.py']);
});

const texts = (el: HTMLElement, selector: string): (string | null)[] => [...el.querySelectorAll(selector)].map(found => found.textContent);

it('has the title, the toolbar and the menu that other charts have', () => {
  const el = shown();
  expect([texts(el, '.tsk-track-title'), texts(el, '.tsk-toolbar > button'), texts(el, '[role=menuitem]')]).toEqual([
    ['Profile'], ['Fit', 'Find'], ['Show as a table', 'Copy as a table', 'Save as PNG', 'Keyboard shortcuts']
  ]);
  expect(texts(el, '.tsk-flame-time-title')).toEqual(['Samples over time all of the time']);
});

it('finds in a field that opens when asked, and has a table that opens from the menu', () => {
  const el = shown();
  const press = (selector: string, text: string): void => { [...el.querySelectorAll<HTMLElement>(selector)].find(button => button.textContent === text)?.click(); };
  const before = el.querySelector('input');
  press('.tsk-toolbar > button', 'Find');
  const input = el.querySelector('input') as HTMLInputElement;
  const isFocused = document.activeElement === input;
  input.value = 'g';
  input.dispatchEvent(new Event('input'));
  press('[role=menuitem]', 'Show as a table');
  expect([before, isFocused, texts(el, '.tsk-flame-said'), el.querySelector<HTMLElement>('.tsk-text-table')?.hidden, texts(el, 'tbody tr:first-child td:first-child')])
    .toEqual([null, true, ['1 call found'], false, ['g']]);
});
