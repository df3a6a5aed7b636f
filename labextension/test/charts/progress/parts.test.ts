import { h } from 'preact';
import { expect, it } from 'vitest';

import { Errors, RunList, RunName } from '../../../src/charts/progress/parts';
import { errorText } from '../../../src/charts/progress/words';
import { render } from '../../../src/charts/ui/render';
import type { FailureKind } from '../../../src/store';
import type { RevealCell } from '../../../src/charts/ui/keeping';
import type { Run } from '../../../src/wire';
import { smallRun } from '../small-batch';

function failure(change: Partial<FailureKind> = {}): FailureKind {
  const first = { row: 0, lane: 0, startS: 0, key: "('load-1', 0)" };
  return { prefix: 'load', status: 'erred', error: 'ValueError: <b>no</b>', n: 1, first, ...change };
}

it.each([
  [failure(), "ValueError: <b>no</b>: task ('load-1', 0)"],
  [failure({ n: 1200 }), "ValueError: <b>no</b>: 1,200 tasks of load, first ('load-1', 0)"],
  [failure({ error: null }), "unknown error: task ('load-1', 0)"],
  [failure({ error: 'E: \u202e\n' }), "E: \\u202e\\n: task ('load-1', 0)"]
])('says what happened to which tasks', (kind, text) => { expect(errorText(kind)).toBe(text); });

it('folds away all but three errors until asked', () => {
  const el = document.createElement('div');
  const set = (errors: readonly FailureKind[]): void => { render(h(Errors, { errors }), el); };
  const texts = (): string[] => [...el.querySelectorAll('li')].map(row => row.textContent);
  set([]);
  const box = el.querySelector<HTMLElement>('.tsk-progress-errors');
  const more = el.querySelector('button');
  expect([box?.hidden, texts()]).toEqual([true, []]);
  const errors = Array.from({ length: 5 }, (_, i) => failure({ error: `E${i}` }));
  set(errors);
  expect([box?.hidden, texts().length, more?.hidden, more?.textContent]).toEqual([false, 3, false, 'Show 2 more errors']);
  more?.click();
  expect([texts(), more?.textContent, more?.getAttribute('aria-expanded')]).toEqual([errors.map(kind => errorText(kind)), 'Show fewer', 'true']);
  set(errors.slice(0, 2));
  expect([texts().length, more?.hidden, more?.textContent]).toEqual([2, true, '']);
});

/** What names the computes that are shown, and whether it is a button. */
function nameOf(runs: readonly Run[], shown: readonly number[], reveal: RevealCell = () => null): [string, string | undefined] {
  const box = document.createElement('div');
  render(h(RunName, { runs, shown: new Set(shown), reveal, isOpen: false, toggle: () => undefined }), box);
  const name = box.querySelector<HTMLElement>(':scope > :not([hidden])');
  return [name?.textContent ?? '', name?.getAttribute('aria-label') ?? name?.title];
}

it('names what is shown by its label and its cell, also one of several computes, and of the cell that the page has it is the way there', () => {
  const [label, only] = [smallRun({ label: 'qr <b>', executionCount: 5 }), smallRun({ executionCount: 2 })];
  const several = [0, 1, 2].map(run => smallRun({ run, executionCount: run === 2 ? 4 : 3 }));
  expect([
    nameOf([label], [0]), nameOf([only], [0], () => () => undefined), nameOf([smallRun()], [0]), nameOf(several, [2]), nameOf(several, [0, 1]), nameOf(several, [0, 1, 2])
  ]).toEqual([
    ['qr <b> · In [5]', ''], ['In [2]', 'Go to the cell'], ['', undefined], ['In [4] ▾', 'In [4], 3 computes'], ['In [3] ▾', 'In [3], 3 computes'], ['In [4] and 1 more ▾', 'In [4] and 1 more, 3 computes']
  ]);
});

it('lists them by the line that computed, the latest first, and leads to those cells that are there', () => {
  const led: number[] = [];
  const reveal: RevealCell = run => (run.cell === 'gone' ? null : () => led.push(run.run));
  const runs = [
    smallRun({ run: 0, lastRun: 998, nRuns: 999, cell: 'gone', executionCount: 1, status: 'erred', startS: 0, stopS: 9, computingS: 1.5, nTasks: 1 }),
    smallRun({ run: 1, cell: 'In [7]', calledFrom: 'a.py:15' }),
    smallRun({ run: 2, cell: 'here', executionCount: 2, calledFrom: 'In [2], line 4', startS: 1 })
  ];
  const box = document.createElement('div');
  render(h(RunList, { runs, shown: new Set([1]), nowS: 3.7, reveal }), box);
  const items = [...box.querySelectorAll('li')];
  expect(items.map(item => [...item.childNodes].map(part => part.textContent).join(' | '))).toEqual([
    'In [2], line 4 | Running · 10 tasks · 2 s', 'In [7] (a.py:15) | Running · 10 tasks · 3 s', 'Computes 1 to 999, added up | Failed · 1 task · 1.5 s'
  ]);
  expect(items.map(item => item.getAttribute('aria-current'))).toEqual([null, 'true', null]);
  box.querySelectorAll('button').forEach(button => { button.click(); });
  expect(led).toEqual([2, 1]);
});
