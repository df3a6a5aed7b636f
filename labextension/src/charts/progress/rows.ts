/** The list of prefixes: a colour, a name, a small bar and the counts of each. */
import { formatCount, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import { element, setText } from '../ui/dom';
import { type Bar, makeBar } from './bar';
import type { PrefixRow } from './layout';
import { hiddenText, rowNumber, rowSentence } from './words';

/** Rows shown before a button asks for the others. */
const FOLDED_ROWS = 8;
/** Rows shown at most; a page must stay quick whatever the graph. */
const MAX_ROWS = 200;
const MAX_NAME_CHARS = 120;

export interface RowsOptions {
  readonly signal: AbortSignal;
  readonly translate: Translate;
}

type ColourOf = (prefix: string) => string;

interface Row {
  readonly el: HTMLElement;
  readonly swatch: HTMLElement;
  readonly name: HTMLElement;
  readonly bar: Bar;
  readonly number: HTMLElement;
}

export class PrefixRows {
  readonly el = element('div', { class: 'tsk-progress-prefixes' });

  readonly #list = element('ul', { class: 'tsk-progress-rows' });
  readonly #more = element('button', { class: 'tsk-button tsk-progress-more', type: 'button' });
  readonly #rows: Row[] = [];
  #unfolded = false;
  #prefixes: readonly PrefixRow[] = [];
  #colourOf: ColourOf = () => '';

  constructor(private readonly options: RowsOptions) {
    this.#list.setAttribute('aria-label', options.translate('By prefix'));
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

  set(prefixes: readonly PrefixRow[], colourOf: ColourOf): void {
    this.#prefixes = prefixes;
    this.#colourOf = colourOf;
    this.#show();
  }

  #show(): void {
    const prefixes = this.#prefixes;
    const shown = prefixes.slice(0, this.#unfolded ? MAX_ROWS : FOLDED_ROWS);
    for (const gone of this.#rows.splice(shown.length)) {
      gone.el.remove();
    }
    shown.forEach((prefix, i) => {
      this.#fill((this.#rows[i] ??= this.#addRow()), prefix);
    });
    this.#list.hidden = shown.length === 0;
    this.#more.hidden = prefixes.length <= FOLDED_ROWS;
    this.#more.setAttribute('aria-expanded', String(this.#unfolded));
    setText(this.#more, this.#more.hidden ? '' : this.#moreText(prefixes.length));
  }

  #moreText(n: number): string {
    const { translate } = this.options;
    if (!this.#unfolded) {
      const doing = hiddenText(this.#prefixes.slice(FOLDED_ROWS), translate);
      const more = translate('Show %1 more prefixes', formatCount(n - FOLDED_ROWS));
      return doing === '' ? more : `${more} (${doing})`;
    }
    return n > MAX_ROWS
      ? translate('Show fewer (%1 more prefixes are not listed)', formatCount(n - MAX_ROWS))
      : translate('Show fewer');
  }

  #addRow(): Row {
    const swatch = element('span', { class: 'tsk-swatch' });
    const name = element('span', { class: 'tsk-progress-name' });
    const number = element('span', { class: 'tsk-progress-number' });
    const bar = makeBar();
    bar.el.setAttribute('role', 'img');
    const el = element('li', { class: 'tsk-progress-row' }, swatch, name, bar.el, number);
    this.#list.append(el);
    return { el, swatch, name, bar, number };
  }

  #fill(row: Row, prefix: PrefixRow): void {
    const { translate } = this.options;
    const colour = this.#colourOf(prefix.prefix);
    const sentence = rowSentence(prefix, translate);
    row.swatch.style.background = colour;
    row.bar.el.style.setProperty('--tsk-prefix', colour);
    row.bar.set(prefix, prefix.total);
    row.bar.el.setAttribute('aria-label', sentence);
    row.el.title = `${printable(prefix.prefix)}: ${sentence}`;
    setText(row.name, printable(prefix.prefix, MAX_NAME_CHARS));
    row.el.classList.toggle('tsk-stuck', (prefix.ahead?.noWorker ?? 0) > 0);
    setText(row.number, rowNumber(prefix, translate));
  }
}
