/** A toolbar as WAI-ARIA describes it: one stop for Tab, arrows between its buttons, rarer things in a menu. */
import { element } from './dom';
import { Menu } from './menu';

export interface ButtonSpec {
  readonly text: string;
  /** What it does, for tooltips and screen readers. */
  readonly label: string;
  readonly act: () => void;
}

export class Toolbar {
  readonly el: HTMLElement;
  readonly #signal: AbortSignal;

  constructor(label: string, signal: AbortSignal) {
    this.#signal = signal;
    this.el = element('div', { class: 'tsk-toolbar', role: 'toolbar', 'aria-label': label });
    this.el.addEventListener('keydown', event => { this.#onKey(event); }, { signal });
    this.el.addEventListener('focusin', event => { this.#stopAt(event.target); }, { signal });
  }

  button({ text, label, act }: ButtonSpec): HTMLButtonElement {
    const button = makeButton(text, label, act, this.#signal);
    button.tabIndex = this.el.childElementCount === 0 ? 0 : -1;
    this.el.append(button);
    return button;
  }

  /** A button that is pressed or not; `setPressed` says which. */
  toggle(spec: ButtonSpec): HTMLButtonElement {
    const button = this.button(spec);
    setPressed(button, false);
    return button;
  }

  /** A button that opens a list of others. */
  menu(text: string, label: string): Menu {
    const menu = new Menu(text, label, this.#signal);
    menu.opener.tabIndex = -1;
    this.el.append(menu.el);
    return menu;
  }

  /** See that one button can be reached by Tab after some were hidden or disabled. */
  keepStop(): void {
    const buttons = this.#buttons();
    if (!buttons.some(button => button.tabIndex === 0)) {
      this.#stopAt(buttons[0] ?? null);
    }
  }

  #buttons(): HTMLButtonElement[] {
    return this.#all().filter(button => !button.hidden && !button.disabled);
  }

  #all(): HTMLButtonElement[] {
    return [...this.el.querySelectorAll<HTMLButtonElement>(':scope > button, :scope > .tsk-menu > button')];
  }

  #stopAt(target: EventTarget | null): void {
    if (this.#buttons().includes(target as HTMLButtonElement)) {
      for (const button of this.#all()) {
        button.tabIndex = button === target ? 0 : -1;
      }
    }
  }

  #onKey(event: KeyboardEvent): void {
    const buttons = this.#buttons();
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) {
      return;
    }
    event.preventDefault();
    buttons[(to + buttons.length) % buttons.length]?.focus();
  }
}

export function makeButton(text: string, label: string, act: () => void, signal: AbortSignal): HTMLButtonElement {
  const button = element('button', { type: 'button', title: label }, text);
  if (label !== text) {
    button.setAttribute('aria-label', label);
  }
  button.addEventListener('click', act, { signal });
  return button;
}

export function setPressed(button: HTMLButtonElement, pressed: boolean): void {
  if (button.getAttribute('aria-pressed') !== String(pressed)) {
    button.setAttribute('aria-pressed', String(pressed));
  }
}
