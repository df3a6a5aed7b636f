/** A button that opens a menu of actions: arrows move, Escape closes it and gives the focus back. */
import { element } from './dom';

export class Menu {
  readonly el: HTMLElement;
  readonly opener: HTMLButtonElement;
  readonly #list = element('div', { class: 'tsk-menu-list', role: 'menu' });
  readonly #signal: AbortSignal;

  constructor(text: string, label: string, signal: AbortSignal) {
    this.#signal = signal;
    this.opener = element('button', { type: 'button', title: label, 'aria-label': label, 'aria-haspopup': 'menu' }, text);
    this.#list.setAttribute('aria-label', label);
    this.el = element('div', { class: 'tsk-menu' }, this.opener, this.#list);
    this.#show(false);
    this.opener.addEventListener('click', () => { this.#show(this.#list.hidden, 'first'); }, { signal });
    this.el.addEventListener('keydown', event => { this.#onKey(event); }, { signal });
    this.el.addEventListener('focusout', event => { this.#onFocusOut(event); }, { signal });
    document.addEventListener('pointerdown', event => { this.#onOutside(event); }, { signal });
  }

  /** Add an action; the menu closes and then it is done. */
  item(text: string, act: () => void): HTMLButtonElement {
    const item = element('button', { type: 'button', role: 'menuitem', tabindex: '-1' }, text);
    item.addEventListener(
      'click',
      () => {
        this.#show(false);
        this.opener.focus();
        act();
      },
      { signal: this.#signal }
    );
    this.#list.append(item);
    return item;
  }

  #items(): HTMLButtonElement[] {
    return [...this.#list.querySelectorAll('button')].filter(item => !item.hidden && !item.disabled);
  }

  #show(open: boolean, focus?: 'first' | 'last'): void {
    this.#list.hidden = !open;
    this.opener.setAttribute('aria-expanded', String(open));
    if (open) {
      this.#items().at(focus === 'last' ? -1 : 0)?.focus();
    }
  }

  #onKey(event: KeyboardEvent): void {
    const items = this.#items();
    const at = items.indexOf(event.target as HTMLButtonElement);
    const isOpen = !this.#list.hidden;
    if (event.key === 'Escape' && isOpen) {
      this.#show(false);
      this.opener.focus();
    } else if (event.target === this.opener && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
      this.#show(true, event.key === 'ArrowUp' ? 'last' : 'first');
    } else if (at >= 0 && ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key] ?? 0;
      items[(to + items.length) % items.length]?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  #onFocusOut(event: FocusEvent): void {
    if (event.relatedTarget instanceof Node && !this.el.contains(event.relatedTarget)) {
      this.#show(false);
    }
  }

  #onOutside(event: Event): void {
    if (!this.#list.hidden && event.target instanceof Node && !event.composedPath().includes(this.el)) {
      this.#show(false);
    }
  }
}
