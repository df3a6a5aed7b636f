/** The legend: a button for each prefix, which shows or hides its tasks; what is under the pointer stands out. */
import { formatCount, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { PrefixProgress } from '../../wire';
import { element, setText } from '../ui/dom';
import { makeButton, setPressed } from '../ui/toolbar';
import type { Emphasis } from './emphasis';

/** One prefix over all computes of a view. */
export interface PrefixSummary {
  readonly prefix: string;
  /** Whether these are tasks of other clients. */
  readonly ofOthers: boolean;
  readonly total: number;
  readonly finished: number;
  readonly erred: number;
  readonly interrupted: number;
  readonly running: number;
  /** Mean over the ended tasks; null: unknown. */
  readonly meanS: number | null;
}

/** Beyond these the legend says how many more there are, and shows them when asked. */
export const MAX_LEGEND = 24;
const MAX_OPEN_LEGEND = 500;

const COUNTS = ['total', 'finished', 'erred', 'interrupted', 'running'] as const;

/** Return sums by prefix; those of which no task has to run are left out, for there is nothing to see. */
export function summarise(rows: readonly PrefixProgress[], others?: ReadonlySet<number>): PrefixSummary[] {
  const sums = new Map<string, { ofOthers: boolean; nEnds: number; durationS: number } & Record<(typeof COUNTS)[number], number>>();
  for (const row of rows) {
    const sum = sums.get(row.prefix) ?? {
      ofOthers: others?.has(row.run) === true, nEnds: 0, durationS: 0, total: 0, finished: 0, erred: 0, interrupted: 0, running: 0
    };
    sums.set(row.prefix, sum);
    for (const name of COUNTS) {
      sum[name] += row[name];
    }
    sum.nEnds += row.finished + row.erred + row.interrupted + row.again;
    sum.durationS += row.durationS ?? NaN;
  }
  return Array.from(sums, ([prefix, { nEnds, durationS, ...counts }]) => {
    const meanS = durationS / nEnds;
    return { prefix, ...counts, meanS: Number.isFinite(meanS) ? meanS : null };
  }).filter(({ total }) => total > 0);
}

export class Legend {
  readonly el: HTMLElement;
  readonly #items = new Map<string, { readonly li: HTMLElement; readonly button: HTMLButtonElement; readonly count: HTMLElement }>();
  readonly #statuses = element('li', { class: 'tsk-gantt-legend-statuses' });
  readonly #more: HTMLButtonElement;
  readonly #reset: HTMLButtonElement;
  #prefixes: readonly PrefixSummary[] = [];
  #nLost = 0;
  #open = false;

  constructor(
    private readonly emphasis: Emphasis,
    private readonly colourOf: (prefix: string) => string,
    private readonly signal: AbortSignal,
    private readonly t: Translate
  ) {
    this.#more = element('button', { type: 'button', title: t('Show more or fewer prefixes') });
    this.#more.addEventListener('click', () => { this.#toggleMore(); }, { signal });
    this.#reset = makeButton(t('Show all'), t('Show all prefixes again'), () => { emphasis.showAll(); }, signal);
    const [more, reset] = [element('li', {}, this.#more), element('li', {}, this.#reset)];
    this.el = element('ul', { class: 'tsk-gantt-legend', 'aria-label': t('Prefixes: press one to hide or show its tasks') }, this.#statuses, more, reset);
    this.refresh([], 0);
  }

  /** Say what there is now; buttons stay the same, so that none loses the focus. */
  refresh(prefixes: readonly PrefixSummary[], nLost: number): void {
    this.#prefixes = prefixes;
    this.#nLost = nLost;
    const shown = prefixes.slice(0, this.#open ? MAX_OPEN_LEGEND : MAX_LEGEND);
    const seen = new Set(shown.map(row => row.prefix));
    for (const [prefix, { li }] of this.#items) {
      if (!seen.has(prefix)) {
        li.remove();
        this.#items.delete(prefix);
      }
    }
    for (const row of shown) {
      this.#refreshItem(row);
    }
    this.#refreshStatuses();
    this.#refreshMore(prefixes.length - shown.length);
    this.#setShown(this.#reset, this.emphasis.nHidden > 0);
  }

  #refreshItem({ prefix, total, ofOthers }: PrefixSummary): void {
    const item = this.#items.get(prefix) ?? this.#makeItem(prefix);
    item.li.classList.toggle('tsk-of-others', ofOthers);
    setText(item.count, formatCount(total));
    const isShown = !this.emphasis.isHidden(prefix);
    setPressed(item.button, isShown);
    item.button.title = isShown ? this.t('%1: press to hide', printable(prefix)) : this.t('%1: hidden, press to show', printable(prefix));
  }

  #makeItem(prefix: string): { li: HTMLElement; button: HTMLButtonElement; count: HTMLElement } {
    const swatch = element('span', { class: 'tsk-gantt-swatch' });
    swatch.style.background = this.colourOf(prefix);
    const count = element('span', { class: 'tsk-gantt-legend-count' });
    const button = element('button', { type: 'button' }, swatch, element('span', { class: 'tsk-gantt-legend-name' }, printable(prefix, 60)), count);
    const { signal, emphasis } = this;
    for (const name of ['pointerenter', 'focus']) {
      button.addEventListener(name, () => { emphasis.look(prefix); }, { signal });
    }
    for (const name of ['pointerleave', 'blur']) {
      button.addEventListener(name, () => { emphasis.look(null); }, { signal });
    }
    button.addEventListener('click', () => { emphasis.toggle(prefix); }, { signal });
    const item = { li: element('li', {}, button), button, count };
    this.#statuses.before(item.li);
    this.#items.set(prefix, item);
    return item;
  }

  /** What the patterns mean, where there are any. */
  #refreshStatuses(): void {
    const { t } = this;
    const sum = (of: (row: PrefixSummary) => number): number => this.#prefixes.reduce((n, row) => n + of(row), 0);
    const counts = [
      ['erred', t('erred'), sum(row => row.erred)],
      ['interrupted', t('interrupted'), sum(row => row.interrupted) - this.#nLost],
      ['lost', t('lost'), this.#nLost]
    ] as const;
    const entries = counts.filter(([, , n]) => n > 0).map(([status, name, n]) => ({ status, text: `${name} ${formatCount(n)}` }));
    const said = entries.map(({ text }) => text).join('');
    if (said !== this.#statuses.textContent) {
      this.#statuses.replaceChildren(
        ...entries.map(({ status, text }) => element('span', {}, element('span', { class: `tsk-gantt-swatch tsk-${status}` }), text))
      );
    }
    this.#statuses.hidden = said === '';
  }

  #refreshMore(nMore: number): void {
    this.#setShown(this.#more, nMore > 0 || this.#open);
    const fewer = nMore > 0 ? this.t('Fewer; %1 more are not listed', formatCount(nMore)) : this.t('Fewer');
    const more = nMore > 0 ? this.t('%1 more prefixes', formatCount(nMore)) : '';
    setText(this.#more, this.#open ? fewer : more);
    this.#more.setAttribute('aria-expanded', String(this.#open));
  }

  #toggleMore(): void {
    this.#open = !this.#open;
    this.refresh(this.#prefixes, this.#nLost);
  }

  #setShown(button: HTMLButtonElement, shown: boolean): void {
    if (button.parentElement !== null) {
      button.parentElement.hidden = !shown;
    }
  }
}
