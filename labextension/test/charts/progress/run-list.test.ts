// @vitest-environment jsdom
import { h } from 'preact';
import { expect, it } from 'vitest';

import { RunList } from '../../../src/charts/progress/parts';
import type { RevealCell } from '../../../src/charts/ui/keeping';
import { render } from '../../../src/charts/ui/render';
import type { Run } from '../../../src/wire';
import { smallRun } from '../small-batch';

interface List {
  readonly el: HTMLElement;
  readonly toggle: HTMLButtonElement;
  set(runs: readonly Run[], nowS: number, shown?: number): void;
}

function listOf(reveal: RevealCell): List {
  const box = document.createElement('div');
  const set = (runs: readonly Run[], nowS: number, shown = -1): void => { render(h(RunList, { runs, shown: new Set([shown]), nowS, reveal }), box); };
  set([], 0);
  return { el: box.querySelector('ul')!, toggle: box.querySelector('button')!, set };
}

function items(list: List): string[] {
  return list.el.hidden ? [] : [...list.el.children].map(item => [...item.childNodes].map(part => part.textContent).join(' | '));
}

it('names the only compute by its label and its cell', () => {
  const list = listOf(() => null);
  list.set([smallRun({ label: 'qr <b>', executionCount: 5 })], 3);
  expect([items(list), list.toggle.hidden]).toEqual([['qr <b> · In [5] | '], true]);
});

it('says nothing of the only compute where it has no name', () => {
  const list = listOf(() => null);
  list.set([smallRun()], 3);
  expect(items(list)).toEqual([]);
});

it('lists several when asked, the latest first, and leads to those cells that are there', () => {
  const led: number[] = [];
  const list = listOf(run => (run.cell === 'gone' ? null : () => led.push(run.run)));
  list.set(
    [
      smallRun({ run: 0, cell: 'gone', executionCount: 1, status: 'erred', startS: 0, stopS: 1.5, nTasks: 1 }),
      smallRun({ run: 1, cell: 'In [7]' }),
      smallRun({ run: 2, cell: 'here', executionCount: 2, startS: 1 })
    ],
    3.7,
    1
  );
  expect([items(list), list.toggle.textContent]).toEqual([[], '3 computes']);
  list.toggle.click();
  expect(items(list)).toEqual(['In [2] | Running · 10 tasks · 2 s', 'In [7] | Running · 10 tasks · 3 s', 'In [1] | Failed · 1 task · 1.5 s']);
  expect([...list.el.children].map(item => item.getAttribute('aria-current'))).toEqual([null, 'true', null]);
  list.el.querySelectorAll('button').forEach(button => {
    button.click();
  });
  expect(led).toEqual([2, 1]);
});
