import { h } from 'preact';
import { expect, it } from 'vitest';

import { Errors } from '../../../src/charts/progress/parts';
import { errorText } from '../../../src/charts/progress/words';
import { render } from '../../../src/charts/ui/render';
import type { FailureKind } from '../../../src/store';

function failure(change: Partial<FailureKind> = {}): FailureKind {
  const first = { row: 0, lane: 0, startS: 0, key: "('load-1', 0)" };
  return { prefix: 'load', status: 'erred', error: 'ValueError: <b>no</b>', n: 1, first, ...change };
}

it.each([
  [failure(), "ValueError: <b>no</b>: task ('load-1', 0)"],
  [failure({ n: 1200 }), "ValueError: <b>no</b>: 1,200 tasks of load, first ('load-1', 0)"],
  [failure({ error: null }), "unknown error: task ('load-1', 0)"],
  [failure({ error: 'E: \u202e\n' }), "E: \\u202e\\n: task ('load-1', 0)"]
])('says what happened to which tasks', (kind, text) => {
  expect(errorText(kind)).toBe(text);
});

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
  expect([texts(), more?.textContent, more?.getAttribute('aria-expanded')]).toEqual([
    errors.map(kind => errorText(kind)), 'Show fewer', 'true'
  ]);
  set(errors.slice(0, 2));
  expect([texts().length, more?.hidden, more?.textContent]).toEqual([2, true, '']);
});
