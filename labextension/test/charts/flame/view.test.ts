import { beforeEach, expect, it, vi } from 'vitest';

import { decodeFlame } from '../../../src/charts/flame/data';
import { type FlameChart, mountFlame } from '../../../src/charts/flame/track';
import { TimeAxis } from '../../../src/charts/timeline/time';
import { smallBatch, smallRun } from '../small-batch';
import { wireOf } from './flame-data';
import { fakeTime } from '../../fake-time';
import { storeWith } from '../../store/rows';
import { sourceOf } from '../../../src/charts/flame/source';
import { render } from '../../../src/charts/ui/render';

const end = new AbortController();

beforeEach(fakeTime);

const axis = new TimeAxis(false);

/** A flame graph of a compute from 100 s to 102 s. */
function mounted(): FlameChart {
  const store = storeWith(smallBatch({ nowS: 102, active: false, runs: [smallRun({ startS: 100, stopS: 102, status: 'finished' })] }));
  return mountFlame(document.body, store, { signal: end.signal, axis, isOver: true });
}

function shown(): HTMLElement {
  mounted().show(decodeFlame(wireOf([{ stack: ['f', 'g'], seconds: 3 }, { stack: ['h'], seconds: 1, bin: 1 }], 2)), null);
  vi.advanceTimersByTime(50);
  return document.body;
}

const texts = (el: HTMLElement, selector: string): (string | null)[] => [...el.querySelectorAll(selector)].map(found => found.textContent);

it('a key pressed between new samples and the next painting moves as any other', () => {
  const chart = mounted();
  const show = (seconds: number): void => { chart.show(decodeFlame(wireOf([{ stack: ['f'], seconds }])), null); };
  show(1);
  vi.advanceTimersByTime(50);
  const canvas = document.querySelector('canvas') as HTMLCanvasElement;
  const down = (): string | undefined => {
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
    vi.advanceTimersByTime(50);
    return document.querySelector('.tsk-flame-said')?.textContent.split(':').at(0);
  };
  const first = down();
  show(2);
  expect([first, down()]).toEqual(['tasks', 'f (f.py']);
});

it('has the title, the toolbar and the menu that other charts have, and samples over time below', () => {
  const el = shown();
  const of = (track: string): unknown[] => [`${track} .tsk-track-title`, `${track} .tsk-toolbar > button`, `${track} [role=menuitem]:not([data-rare])`].map(selector => texts(el, selector));
  expect([of('.tsk-flame'), of('.tsk-samples')]).toEqual([
    [['Profile'], ['Fit', 'Find'], ['Show as a table', 'Copy as a table', 'Save as PNG', 'Keyboard shortcuts']],
    [
      ['Samples over time'], ['−', '+', 'Fit', 'Follow', 'Pause'],
      ['Show as a table', 'Show all computes', 'Clear, show new tasks only', 'Copy as a table', 'Save as PNG', 'Keyboard shortcuts']
    ]
  ]);
});

it('lists each key of the samples once, and none that does nothing', () => {
  const el = shown();
  const keys = texts(el, '.tsk-samples .tsk-track-help dt');
  expect(keys).toEqual(['← → or A D', '+ − or W S', 'Home', 'F', 'X', 'Shift+← →', 'Shift+A D', 'Esc', '?']);
});

it('is of the time that is selected, here or in charts beside it', () => {
  const el = shown();
  const said = (): unknown => {
    vi.advanceTimersByTime(50);
    return [...texts(el, '.tsk-flame-sum'), ...texts(el, '.tsk-samples .tsk-series-foot')];
  };
  const all = said();
  axis.select({ startS: 101, stopS: 102 });
  const second = said();
  el.querySelector('.tsk-samples canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
  expect([all, second, said()]).toEqual([
    ['400 samples, about 4 s in tasks', 'all of the time'], ['100 samples, about 1 s in tasks', 'from 1 s to 2 s'], ['400 samples, about 4 s in tasks', 'all of the time']
  ]);
});

it('finds in a field that opens when asked, and has a table that opens from the menu', () => {
  const el = shown();
  const press = (selector: string, text: string): void => {
    [...el.querySelectorAll<HTMLElement>(`.tsk-flame ${selector}`)].find(button => button.textContent === text)?.click();
    vi.advanceTimersByTime(50);
  };
  const before = el.querySelector('input');
  press('.tsk-toolbar > button', 'Find');
  const input = el.querySelector('input') as HTMLInputElement;
  const isFocused = document.activeElement === input;
  input.value = 'g';
  input.dispatchEvent(new Event('input'));
  press('[role=menuitem]', 'Show as a table');
  const table = el.querySelector('.tsk-flame .tsk-text-table');
  expect([before, isFocused, texts(el, '.tsk-flame-said'), table?.classList.contains('tsk-hidden'), texts(el, '.tsk-flame tbody tr:first-child td:first-child')])
    .toEqual([null, true, ['1 call found'], false, ['g']]);
});

function sourceShown(source: unknown): HTMLElement {
  const el = document.body.appendChild(document.createElement('div'));
  render(sourceOf(source), el);
  return el;
}

it('shows each line of a function with its time, and warmer the longer it took', () => {
  const el = sourceShown({
    function: ['f', 'f.py', 7], seconds: 3.5, note: null,
    lines: [[7, 'def f():', null], [8, '    <b>g</b>()', 2], [9, '    h()', 1]]
  });
  expect(el.querySelector('p')?.textContent).toBe('Source of f f.py:7 · about 3.5 s, with what it called');
  expect([...el.querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent))).toEqual([
    ['7', '', 'def f():'], ['8', '2 s', '    <b>g</b>()'], ['9', '1 s', '    h()']
  ]);
  expect([...el.querySelectorAll('tr')].map(row => /[\d.]+%/.exec(row.getAttribute('style') ?? '')?.[0])).toEqual([undefined, '45%', '22.5%']);
});

it('says why there is no source, and is not there where no function was chosen', () => {
  const el = sourceShown({ function: ['f', 'gone.py', 1], seconds: 0, note: 'its source is not here, or has changed', lines: [] });
  expect(el.textContent).toBe('Source of f gone.py:1its source is not here, or has changed');
  expect(el.querySelector<HTMLElement>('[role=group]')?.hidden).toBe(true);
  expect(sourceShown({}).textContent).toBe('');
});
