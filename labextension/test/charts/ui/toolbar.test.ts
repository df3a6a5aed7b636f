import { h } from 'preact';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { render } from '../../../src/charts/ui/render';
import { Table, tabSeparated, fold } from '../../../src/charts/ui/text-table';
import { type ButtonSpec, Toolbar } from '../../../src/charts/ui/toolbar';

let done: string[] = [];
let controller = new AbortController();

beforeEach(() => {
  done = [];
  controller = new AbortController();
});

afterEach(() => { controller.abort(); });

const act = (text: string) => (): void => { done.push(text); };
const focused = (): string | null => document.activeElement?.textContent ?? null;
const press = (key: string): boolean =>
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })) ?? false;

interface Shown {
  readonly root: HTMLElement;
  readonly opener: HTMLButtonElement;
  readonly show: (hidden: readonly string[], pressed?: boolean) => void;
}

function toolbar(): Shown {
  const root = document.body.appendChild(document.createElement('div'));
  const show: Shown['show'] = (hidden, pressed) => {
    const spec = (text: string): ButtonSpec => ({ text, label: text, act: act(text), hidden: hidden.includes(text) });
    const buttons = [...['A', 'B', 'C'].map(spec), ...(pressed === undefined ? [] : [{ ...spec('T'), pressed }])];
    render(h(Toolbar, { label: 'View', buttons, menu: { text: 'More', label: 'More actions', groups: [{ label: 'G', items: ['x', 'y'].map(spec) }, { label: 'H', items: [spec('z')] }] } }), root);
  };
  show([]);
  controller.signal.addEventListener('abort', () => { render(null, root); });
  return { root, opener: root.querySelector<HTMLButtonElement>('.tsk-menu > button')!, show };
}

describe('toolbar', () => {
  it('is one stop for Tab, and arrows go round its buttons', () => {
    const { root, show } = toolbar();
    show(['B']);
    root.querySelector('button')?.focus();
    const visited = ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'Home', 'End'].map(key => {
      press(key);
      return focused();
    });
    expect(visited).toEqual(['C', 'More', 'A', 'More', 'A', 'More']);
    expect([...root.querySelectorAll<HTMLElement>('.tsk-toolbar > button, .tsk-menu > button')].map(button => button.tabIndex)).toEqual([-1, -1, -1, 0]);
  });

  it('keeps a stop when the button that was it goes', () => {
    const { root, show } = toolbar();
    const [a, b] = root.querySelectorAll('button') as unknown as [HTMLButtonElement, HTMLButtonElement];
    show(['A']);
    expect([a.tabIndex, b.tabIndex]).toEqual([-1, 0]);
  });

  it('a toggle says whether it is pressed', () => {
    const { root, show } = toolbar();
    const states = [false, true].map(pressed => {
      show([], pressed);
      return root.querySelectorAll('.tsk-toolbar > button')[3]?.getAttribute('aria-pressed');
    });
    expect(states).toEqual(['false', 'true']);
  });
});

describe('menu', () => {
  it('opens at its first item, moves by arrows, acts and gives the focus back', () => {
    const { opener } = toolbar();
    opener.focus();
    press('ArrowDown');
    const visited = [focused(), opener.getAttribute('aria-expanded')];
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown']) {
      press(key);
      visited.push(focused());
    }
    (document.activeElement as HTMLElement).click();
    expect([visited, done, focused(), opener.getAttribute('aria-expanded')]).toEqual([['x', 'true', 'z', 'y', 'z'], ['z'], 'More', 'false']);
  });

  it('has its items in groups by their names; one of which nothing is there is not there either', () => {
    const { root, show } = toolbar();
    const groups = (): unknown => [...root.querySelectorAll<HTMLElement>('[role=menu] > [role=group]:not([hidden])')].map(el => [el.getAttribute('aria-label'), el.textContent]);
    const all = groups();
    show(['z']);
    expect([all, groups()]).toEqual([[['G', 'xy'], ['H', 'z']], [['G', 'xy']]]);
  });

  it('Escape and a press elsewhere close it', () => {
    const { opener } = toolbar();
    const states = (): (string | null)[] => [opener.getAttribute('aria-expanded'), focused()];
    opener.click();
    press('Escape');
    const escaped = states();
    opener.click();
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    expect([escaped, states()[0]]).toEqual([['false', 'More'], 'false']);
  });
});

describe('text table', () => {
  const table = { caption: 'c', columns: ['Key', 'N'], rows: [['=cmd()', '-1,234.5'], ['a\tb\nc', '-1+cmd|x'], ['<b>', '+1']] };

  it('is copied with tabs, and nothing in it becomes a formula', () => {
    expect(tabSeparated(table)).toBe("Key\tN\n'=cmd()\t-1,234.5\na b c\t'-1+cmd|x\n<b>\t'+1");
  });

  it('is shown as text', () => {
    const root = document.createElement('div');
    render(h(Table, table), root);
    const el = root.querySelector('table')!;
    expect([[...el.querySelectorAll('th')].map(cell => cell.scope), el.querySelector('b'), el.rows[3]?.cells[0]?.textContent]).toEqual([
      ['col', 'col'], null, '<b>'
    ]);
  });
});

it('shows the first rows, and those that must be shown wherever they are', () => {
  const even = (n: number): boolean => n % 2 === 0;
  expect([fold([1, 3, 5, 6, 7, 8], 3, even), fold([1, 2], 3, even), fold([2, 4, 5], 1, even)]).toEqual([
    { shown: [1, 6, 8], rest: [3, 5, 7] }, { shown: [1, 2], rest: [] }, { shown: [2, 4], rest: [5] }
  ]);
});
