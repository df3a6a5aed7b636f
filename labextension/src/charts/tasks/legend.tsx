/** The legend: a button for each prefix, which shows or hides its tasks; what is under the pointer stands out. */
import { formatCount, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { PrefixProgress } from '../../wire';
import { LegendRow, Swatch } from '../ui/legend';
import { fold } from '../ui/text-table';
import type { ComponentChildren } from '../ui/render';
import { Component } from '../ui/render';
import { Button } from '../ui/toolbar';
import type { PrefixFilter } from './scene';

/** One prefix over all computes of a view. */
export interface PrefixSummary {
  readonly prefix: string;
  readonly total: number;
  readonly finished: number;
  readonly erred: number;
  readonly interrupted: number;
  /** How many of the interrupted ones were released. */
  readonly released: number;
  readonly running: number;
  /** Mean over the ended tasks; null: unknown. */
  readonly meanS: number | null;
}

/** Beyond these the legend says how many more there are, and shows them when asked. */
export const MAX_LEGEND = 24;
const MAX_OPEN_LEGEND = 500;

const COUNTS = ['total', 'finished', 'erred', 'interrupted', 'released', 'running'] as const;

/** Return sums by prefix; those of which no task has to run are left out, for there is nothing to see. */
export function summarise(rows: readonly PrefixProgress[]): PrefixSummary[] {
  const sums = new Map<string, { nEnds: number; durationS: number } & Record<(typeof COUNTS)[number], number>>();
  for (const row of rows) {
    const sum = sums.get(row.prefix) ?? { nEnds: 0, durationS: 0, total: 0, finished: 0, erred: 0, interrupted: 0, released: 0, running: 0 };
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

/** What knows prefixes by their number. */
interface PrefixNames {
  readonly prefixes: readonly string[];
  prefixId(prefix: string): number;
}

export class Emphasis {
  #focus: string | null = null;

  /**
   * @param changed is called when something has to be painted anew
   * @param hidden at first; another list when other prefixes are hidden
   */
  constructor(
    private readonly changed: () => void,
    public hidden: readonly string[] = []
  ) {}

  get focused(): string | null {
    return this.#focus;
  }

  get nHidden(): number {
    return this.hidden.length;
  }

  isHidden(prefix: string): boolean {
    return this.hidden.includes(prefix);
  }

  toggle(prefix: string): void {
    this.hidden = this.isHidden(prefix) ? this.hidden.filter(one => one !== prefix) : [...this.hidden, prefix];
    this.changed();
  }

  showAll(): void {
    this.hidden = [];
    this.changed();
  }

  /** Have one prefix stand out; null: all alike. */
  focus(prefix: string | null): void {
    if (prefix !== this.#focus) {
      this.#focus = prefix;
      this.changed();
    }
  }

  /** The same by the numbers of a recorder's tables. */
  filter(names: PrefixNames): PrefixFilter {
    const focus = this.#focus === null || this.isHidden(this.#focus) ? -1 : names.prefixId(this.#focus);
    if (this.nHidden === 0) {
      return { hidden: null, focus };
    }
    const hidden = new Uint8Array(names.prefixes.length);
    for (const prefix of this.hidden) {
      hidden[names.prefixId(prefix)] = 1;
    }
    return { hidden, focus };
  }
}

interface LegendProps {
  readonly prefixes: readonly PrefixSummary[];
  /** Of those that were interrupted, how many were lost with their worker. */
  readonly nLost: number;
  readonly emphasis: Emphasis;
  readonly colourOf: (prefix: string) => string;
}

export class Legend extends Component<LegendProps, { readonly open: boolean }> {
  override state = { open: false };

  override render({ prefixes, emphasis, colourOf }: LegendProps): ComponentChildren {
    const { open } = this.state;
    const { shown: all } = fold(prefixes, open ? MAX_OPEN_LEGEND : MAX_LEGEND, ({ running }) => running > 0);
    const shown = all.slice(0, MAX_OPEN_LEGEND);
    const nMore = prefixes.length - shown.length;
    const fewer = nMore > 0 ? trans.__('Fewer; %1 more are not listed', formatCount(nMore)) : trans.__('Fewer');
    const more = nMore > 0 ? trans._n('%2 more task type', '%2 more task types', nMore, formatCount(nMore)) : '';
    const statuses = this.#statuses();
    return (
      <ul class="tsk-legend tsk-gantt-legend" aria-label={trans.__('Task types: press one to hide or show its tasks')}>
        {shown.map(({ prefix, total }) => {
          const isShown = !emphasis.isHidden(prefix);
          return (
            <LegendRow
              key={prefix} name={prefix} look={{ background: colourOf(prefix) }} amount={formatCount(total)} isShown={isShown}
              title={isShown ? trans.__('%1: press to hide', printable(prefix)) : trans.__('%1: hidden, press to show', printable(prefix))}
              press={() => { emphasis.toggle(prefix); }} point={isOn => { emphasis.focus(isOn ? prefix : null); }}
            />
          );
        })}
        <li key="/statuses" class="tsk-legend-note" hidden={statuses.length === 0}>
          {statuses.map(({ status, text }) => <span><Swatch look={`tsk-${status}`} />{text}</span>)}
        </li>
        <li key="/more" hidden={nMore === 0 && !open}>
          <button type="button" title={trans.__('Show more or fewer task types (Dask: prefixes)')} aria-expanded={open} onClick={() => { this.setState({ open: !open }); }}>
            {open ? fewer : more}
          </button>
        </li>
        <li key="/all" hidden={emphasis.nHidden === 0}>
          <Button text={trans.__('Show all')} label={trans.__('Show all task types again')} act={() => { emphasis.showAll(); }} />
        </li>
      </ul>
    );
  }

  /** What the patterns mean, where there are any. */
  #statuses(): { readonly status: string; readonly text: string }[] {
    const { prefixes, nLost } = this.props;
    const sum = (of: (row: PrefixSummary) => number): number => prefixes.reduce((n, row) => n + of(row), 0);
    const counts = [
      ['erred', trans.__('failed'), sum(row => row.erred)],
      ['interrupted', trans.__('interrupted'), sum(row => row.interrupted - row.released) - nLost],
      ['released', trans.__('released'), sum(row => row.released)],
      ['lost', trans.__('lost'), nLost]
    ] as const;
    return counts.filter(([, , n]) => n > 0).map(([status, name, n]) => ({ status, text: `${name} ${formatCount(n)}` }));
  }
}
