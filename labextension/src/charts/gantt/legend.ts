/** The legend, and the same chart as a table for those who do not see it. */
import { formatCount, formatDuration, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { PrefixProgress } from '../../wire';
import { element } from '../ui/dom';

/** One prefix over all computes of a view. */
export interface PrefixSummary {
  readonly prefix: string;
  readonly total: number;
  readonly finished: number;
  readonly erred: number;
  readonly interrupted: number;
  readonly running: number;
  /** Mean over the ended tasks; null: unknown. */
  readonly meanS: number | null;
}

/** Beyond these the legend says how many more there are. */
export const MAX_LEGEND = 24;

export function summarise(rows: readonly PrefixProgress[]): PrefixSummary[] {
  const sums = new Map<string, { total: number; finished: number; erred: number; interrupted: number; running: number; durationS: number }>();
  for (const row of rows) {
    const sum = sums.get(row.prefix) ?? { total: 0, finished: 0, erred: 0, interrupted: 0, running: 0, durationS: 0 };
    sums.set(row.prefix, {
      total: sum.total + row.total,
      finished: sum.finished + row.finished,
      erred: sum.erred + row.erred,
      interrupted: sum.interrupted + row.interrupted,
      running: sum.running + row.running,
      durationS: sum.durationS + (row.durationS ?? NaN)
    });
  }
  return Array.from(sums, ([prefix, { durationS, ...counts }]) => {
    const ended = counts.finished + counts.erred + counts.interrupted;
    return { prefix, ...counts, meanS: ended > 0 && Number.isFinite(durationS) ? durationS / ended : null };
  });
}

/** Fill the legend: a swatch, a name and a count for each prefix, and what the patterns mean. */
export function fillLegend(
  list: HTMLElement,
  prefixes: readonly PrefixSummary[],
  colourOf: (prefix: string) => string,
  t: Translate
): void {
  const items = prefixes.slice(0, MAX_LEGEND).map(row => {
    const swatch = element('span', { class: 'tsk-gantt-swatch' });
    swatch.style.background = colourOf(row.prefix);
    return entry(swatch, printable(row.prefix, 60), formatCount(row.total), row.prefix);
  });
  if (prefixes.length > MAX_LEGEND) {
    items.push(element('li', {}, t('%1 more prefixes', formatCount(prefixes.length - MAX_LEGEND))));
  }
  for (const status of ['erred', 'interrupted'] as const) {
    const n = prefixes.reduce((sum, row) => sum + row[status], 0);
    if (n > 0) {
      items.push(entry(element('span', { class: `tsk-gantt-swatch tsk-${status}` }), t(status), formatCount(n), null));
    }
  }
  list.replaceChildren(...items);
}

function entry(swatch: HTMLElement, name: string, count: string, title: string | null): HTMLElement {
  const label = element('span', { class: 'tsk-gantt-legend-name' }, name);
  if (title !== null) {
    label.title = printable(title);
  }
  return element('li', {}, swatch, label, element('span', { class: 'tsk-gantt-legend-count' }, count));
}

/** Fill the hidden table: one row a prefix. */
export function fillTable(table: HTMLTableElement, prefixes: readonly PrefixSummary[], t: Translate): void {
  const head = [t('Prefix'), t('Tasks'), t('Finished'), t('Erred'), t('Interrupted'), t('Running'), t('Mean duration')];
  const row = (tag: 'td' | 'th', cells: readonly string[]): HTMLTableRowElement =>
    element('tr', {}, ...cells.map(cell => element(tag, tag === 'th' ? { scope: 'col' } : {}, cell)));
  table.replaceChildren(
    element('caption', {}, t('Tasks of each prefix')),
    element('thead', {}, row('th', head)),
    element(
      'tbody',
      {},
      ...prefixes.map(p =>
        row('td', [
          printable(p.prefix),
          ...[p.total, p.finished, p.erred, p.interrupted, p.running].map(formatCount),
          formatDuration(p.meanS)
        ])
      )
    )
  );
}
