/** The prefixes that made up the peak, and the same group by group as a table. */
import { formatCount, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import { element } from '../ui/dom';

const MAX_LEGEND = 24;

export interface LegendEntry {
  readonly prefix: string;
  readonly colour: string;
  readonly amount: string;
}

export function fillLegend(list: HTMLElement, entries: readonly LegendEntry[], t: Translate): void {
  const items = entries.slice(0, MAX_LEGEND).map(({ prefix, colour, amount }) => {
    const swatch = element('span', { class: 'tsk-cache-swatch' });
    swatch.style.background = colour;
    const name = element('span', { class: 'tsk-cache-legend-name', title: printable(prefix) }, printable(prefix, 60));
    return element('li', {}, swatch, name, element('span', {}, amount));
  });
  if (entries.length > MAX_LEGEND) {
    items.push(element('li', {}, t('%1 more prefixes', formatCount(entries.length - MAX_LEGEND))));
  }
  list.replaceChildren(...items);
}
