/** The prefixes that made up the peak. */
import { formatCount, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { ComponentChildren } from '../ui/render';

const MAX_LEGEND = 24;

export interface CacheEntry {
  readonly prefix: string;
  readonly colour: string;
  readonly amount: string;
}

export function CacheLegend({ entries }: { readonly entries: readonly CacheEntry[]; }): ComponentChildren {
  return (
    <ul class="tsk-cache-legend" aria-label={trans.__('Task types at the peak')}>
      {entries.slice(0, MAX_LEGEND).map(({ prefix, colour, amount }) => (
        <li>
          <span class="tsk-cache-swatch" style={{ background: colour }} />
          <span class="tsk-cache-legend-name" title={printable(prefix)}>{printable(prefix, 60)}</span>
          <span>{amount}</span>
        </li>
      ))}
      {entries.length > MAX_LEGEND && <li>{trans._n('%2 more task type', '%2 more task types', entries.length - MAX_LEGEND, formatCount(entries.length - MAX_LEGEND))}</li>}
    </ul>
  );
}
