import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { fillTable, tabSeparated } from '../../../src/charts/ui/text-table';
import { Toolbar, setPressed } from '../../../src/charts/ui/toolbar';

let done: string[] = [];
let controller = new AbortController();

beforeEach(() => {
  done = [];
  controller = new AbortController();
});

afterEach(() => {
  controller.abort();
  document.body.replaceChildren();
});

const act = (text: string) => (): void => {
  done.push(text);
};
const focused = (): string | null => document.activeElement?.textContent ?? null;
const press = (key: string): boolean =>
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })) ?? false;

function toolbar(): { bar: Toolbar; b: HTMLButtonElement; menu: ReturnType<Toolbar['menu']> } {
  const bar = new Toolbar('View', controller.signal);
  const [, b] = ['A', 'B', 'C'].map(text => bar.button({ text, label: text, act: act(text) })) as [HTMLButtonElement, HTMLButtonElement];
  const menu = bar.menu('More', 'More actions');
  ['x', 'y', 'z'].forEach(text => menu.item(text, act(text)));
  document.body.append(bar.el);
  return { bar, b, menu };
}

describe('toolbar', () => {
  it('is one stop for Tab, and arrows go round its buttons', () => {
    const { bar, b } = toolbar();
    b.hidden = true;
    bar.el.querySelector('button')?.focus();
    const visited = ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'Home', 'End'].map(key => {
      press(key);
      return focused();
    });
    expect(visited).toEqual(['C', 'More', 'A', 'More', 'A', 'More']);
    expect([...bar.el.querySelectorAll<HTMLElement>(':scope > button, .tsk-menu > button')].map(button => button.tabIndex)).toEqual([-1, -1, -1, 0]);
  });

  it('keeps a stop when the button that was it goes', () => {
    const { bar } = toolbar();
    const [a, b] = bar.el.querySelectorAll('button') as unknown as [HTMLButtonElement, HTMLButtonElement];
    a.hidden = true;
    bar.keepStop();
    expect([a.tabIndex, b.tabIndex]).toEqual([-1, 0]);
  });

  it('a toggle says whether it is pressed', () => {
    const button = toolbar().bar.toggle({ text: 'T', label: 'T', act: act('T') });
    const before = button.getAttribute('aria-pressed');
    setPressed(button, true);
    expect([before, button.getAttribute('aria-pressed')]).toEqual(['false', 'true']);
  });
});

describe('menu', () => {
  it('opens at its first item, moves by arrows, acts and gives the focus back', () => {
    const { menu } = toolbar();
    menu.opener.focus();
    press('ArrowDown');
    const visited = [focused(), menu.opener.getAttribute('aria-expanded')];
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown']) {
      press(key);
      visited.push(focused());
    }
    (document.activeElement as HTMLElement).click();
    expect([visited, done, focused(), menu.opener.getAttribute('aria-expanded')]).toEqual([['x', 'true', 'z', 'y', 'z'], ['z'], 'More', 'false']);
  });

  it('Escape and a press elsewhere close it', () => {
    const { menu } = toolbar();
    const states = (): (string | null)[] => [menu.opener.getAttribute('aria-expanded'), focused()];
    menu.opener.click();
    press('Escape');
    const escaped = states();
    menu.opener.click();
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    expect([escaped, states()[0]]).toEqual([['false', 'More'], 'false']);
  });
});

describe('text table', () => {
  const table = { caption: 'c', columns: ['Key', 'N'], rows: [['=cmd()', '-1 s'], ['a\tb\nc', '-x'], ['<b>', '+1']] };

  it('is copied with tabs, and nothing in it becomes a formula', () => {
    expect(tabSeparated(table)).toBe("Key\tN\n'=cmd()\t-1 s\na b c\t'-x\n<b>\t'+1");
  });

  it('is shown as text', () => {
    const el = document.createElement('table');
    fillTable(el, table);
    expect([[...el.querySelectorAll('th')].map(cell => cell.scope), el.querySelector('b'), el.rows[3]?.cells[0]?.textContent]).toEqual([
      ['col', 'col'], null, '<b>'
    ]);
  });
});
