import { expect, it } from 'vitest';

import { sourceOf } from '../../../src/charts/flame/source';
import { render } from '../../../src/charts/ui/render';

function shown(source: unknown): HTMLElement {
  const el = document.body.appendChild(document.createElement('div'));
  render(sourceOf(source), el);
  return el;
}

it('shows each line of a function with its time, and warmer the longer it took', () => {
  const el = shown({
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
  const el = shown({ function: ['f', 'gone.py', 1], seconds: 0, note: 'its source is not here, or has changed', lines: [] });
  expect(el.textContent).toBe('Source of f gone.py:1its source is not here, or has changed');
  expect(el.querySelector<HTMLElement>('[role=group]')?.hidden).toBe(true);
  expect(shown({}).textContent).toBe('');
});
