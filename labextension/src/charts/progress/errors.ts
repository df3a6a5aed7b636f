/** The list of what went wrong: for each prefix and message how often, and which task was the first. */
import { formatCount, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { FailureKind } from '../../store';
import { element, setText } from '../ui/dom';

/** Rows shown before a button asks for the others. */
const FOLDED_ROWS = 3;
/** Rows shown at most; a page must stay quick whatever fails. */
const MAX_ROWS = 100;
const MAX_MESSAGE_CHARS = 300;
const MAX_NAME_CHARS = 80;

export interface ErrorsOptions {
  readonly signal: AbortSignal;
  readonly translate: Translate;
}

export class ErrorList {
  readonly el = element('div', { class: 'tsk-progress-errors' });

  readonly #list = element('ul');
  readonly #more = element('button', { class: 'tsk-button tsk-progress-more', type: 'button' });
  #unfolded = false;
  #errors: readonly FailureKind[] = [];

  constructor(private readonly options: ErrorsOptions) {
    this.#list.setAttribute('aria-label', options.translate('Errors'));
    this.#more.addEventListener(
      'click',
      () => {
        this.#unfolded = !this.#unfolded;
        this.#show();
      },
      { signal: options.signal }
    );
    this.el.append(this.#list, this.#more);
    this.#show();
  }

  set(errors: readonly FailureKind[]): void {
    this.#errors = errors;
    this.#show();
  }

  #show(): void {
    const shown = this.#errors.slice(0, this.#unfolded ? MAX_ROWS : FOLDED_ROWS);
    while (this.#list.children.length > shown.length) {
      this.#list.lastElementChild?.remove();
    }
    shown.forEach((error, i) => {
      const row = this.#list.children.item(i) ?? this.#list.appendChild(element('li'));
      setText(row as HTMLElement, errorText(error, this.options.translate));
    });
    this.el.hidden = shown.length === 0;
    this.#more.hidden = this.#errors.length <= FOLDED_ROWS;
    this.#more.setAttribute('aria-expanded', String(this.#unfolded));
    setText(this.#more, this.#more.hidden ? '' : this.#moreText(this.#errors.length));
  }

  #moreText(n: number): string {
    const { translate } = this.options;
    if (!this.#unfolded) {
      return translate('Show %1 more errors', formatCount(n - FOLDED_ROWS));
    }
    return n > MAX_ROWS
      ? translate('Show fewer (%1 more errors are not listed)', formatCount(n - MAX_ROWS))
      : translate('Show fewer');
  }
}

/** `ValueError: no: 3 tasks of load, first ('load-1', 0)`. */
export function errorText({ prefix, error, n, first }: FailureKind, translate: Translate): string {
  const message = error === null ? translate('unknown error') : printable(error, MAX_MESSAGE_CHARS);
  const [name, key] = [printable(prefix, MAX_NAME_CHARS), printable(first.key, MAX_NAME_CHARS)];
  return n === 1
    ? translate('%1: task %2', message, key)
    : translate('%1: %2 tasks of %3, first %4', message, formatCount(n), name, key);
}
