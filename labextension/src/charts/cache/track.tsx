/** Results that are kept in memory: the stack, its peak, and the same in words. */
import { formatCount, printable } from '../../lib/format';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { Measure } from '../../store';
import { LatestMoments } from '../../store';
import type { Brush } from '../timeline/drawing';
import type { TimeFrame } from '../timeline/time';
import type { TrackContext } from '../timeline/track';
import type { ValuePlot } from '../timeline/value-track';
import { ValueTrack } from '../timeline/value-track';
import type { LegendEntry } from '../ui/export';
import { LegendRow } from '../ui/legend';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { HeldSummary, Stack } from './summary';
import { HeldStacks, allUnknownText, amountText, byPrefix, drawStack, formatterOf, isAllUnknown, measureName, metricName, nowText, onCluster, peakText, summariseHeld, titleText } from './summary';

const PLOT_PX = 140;
/** Of a plot that says why there is none. */
const NOTE_PX = 44;
const NO_AXIS = { top: 1, ticks: [] };
const MAX_TABLE = 50;
const MAX_READ = 5;
const MEASURES = ['bytes', 'count', 'metric'] as const;

export class CacheTrack extends ValueTrack {
  readonly name = 'cache';
  override readonly css = CACHE_CSS;
  readonly label: string;
  #chosen: Measure | null;
  #metric: string | null = null;
  #summary: HeldSummary | null = null;
  #entries: readonly CacheEntry[] = [];
  #peak = '';
  readonly #moments = new LatestMoments();
  #stacks: HeldStacks | null = null;
  #last: { readonly of: string; readonly stack: Stack } | null = null;

  /** @param measure what is shown at first; null: the user's metric where there is one, else bytes */
  constructor(context: TrackContext, measure: Measure | null) {
    super(context);
    this.#chosen = measure;
    this.label = trans.__('Results in memory');
  }

  protected sources(): readonly (number | string | null)[] {
    const { store } = this.context;
    return [store.held.version, store.version, this.#chosen];
  }

  protected read(): boolean {
    const { store, window } = this.context;
    this.#metric = metricName(store, window);
    this.#summary = summariseHeld(store, window, this.#held().moments);
    this.#entries = this.#entriesOf(this.#summary);
    return this.#summary !== null;
  }

  plots(): readonly ValuePlot[] {
    const [measure, summary] = [this.#measure, this.#summary];
    const title = titleText(measure, this.#metric, summary?.isOnCluster ?? false);
    const format = (amount: number): string => amountText(measure, amount, this.#metric);
    if (this.#isUnknown) {
      const paint: ValuePlot['paint'] = (brush, plot) => {
        const { plotLeftPx, plotWidthPx } = brush.room;
        brush.label(allUnknownText(measure, this.#metric), [{ x: plotLeftPx + plotWidthPx / 2, y: plot.topPx + plot.heightPx / 2, align: 'center' }]);
      };
      return [{ title, axis: NO_AXIS, heightPx: NOTE_PX, format, paint }];
    }
    const peak = summary === null || summary.peak.total === 0 ? null : { value: summary.peak.total, timeS: summary.peak.timeS };
    return [{
      title, format, peak, heightPx: PLOT_PX,
      axis: valueAxis((peak?.value ?? 0) * 1.08, 3, formatterOf(measure), measure !== 'metric'),
      paint: (brush, plot) => { drawStack(brush, plot, this.#stack(brush), prefix => this.context.store.colour(prefix)); }
    }];
  }

  protected readings(timeS: number): readonly string[] {
    const { store } = this.context;
    const measure = this.#measure;
    const stack = this.#held().stack({ startS: timeS, stopS: timeS + 1e-9 }, 1, timeS);
    const format = formatterOf(measure);
    const parts = stack.prefixes
      .map((prefix, i) => [store.tables.prefixes[prefix] ?? '?', stack.amounts[i] ?? 0] as const)
      .filter(([, amount]) => amount > 0)
      .sort((a, b) => b[1] - a[1]);
    const total = parts.reduce((sum, [, amount]) => sum + amount, 0);
    return [amountText(measure, total, this.#metric), ...parts.slice(0, MAX_READ).map(([prefix, amount]) => `${printable(prefix, 40)} ${format(amount)}`)];
  }

  override head(): ComponentChildren {
    const summary = this.#summary;
    if (summary === null) {
      return null;
    }
    return (
      <div class="tsk-series-head">
        <div class="tsk-cache-now">{nowText(summary, this.#metric, this.growing)}</div>
        <div class="tsk-cache-measures" role="group" aria-label={trans.__('Measure')}>
          {MEASURES.map(measure => (
            <button
              type="button" hidden={measure === 'metric' && this.#metric === null} aria-pressed={measure === this.#measure}
              onClick={() => {
                this.#chosen = measure;
                this.choose();
              }}
            >
              <span>{measureName(measure, this.#metric)}</span>
            </button>
          ))}
        </div>
      </div>
    );
  }

  override foot(): ComponentChildren {
    if (this.#summary === null) {
      return null;
    }
    return (
      <div class="tsk-series-foot">
        <p class="tsk-cache-peak">{this.#peak}</p>
        <CacheLegend entries={this.#entries} />
      </div>
    );
  }

  override title(): string {
    return `${this.label}: ${this.#peak}`;
  }

  description(): string {
    const summary = this.#summary;
    const label = summary?.isOnCluster === true ? trans.__('Results in memory of the workers') : this.label;
    return summary === null ? label : this.described(`${label}: ${nowText(summary, this.#metric, this.growing)}. ${this.#peak}`);
  }

  override legend(): readonly LegendEntry[] {
    return this.#entries.map(({ prefix, colour, amount }) => ({ name: `${prefix} ${amount}`, colour }));
  }

  tables(): readonly TextTable[] {
    const summary = this.#summary;
    if (summary === null) {
      return [];
    }
    const { store } = this.context;
    const format = formatterOf(summary.measure);
    const rows = summary.peak.groups.slice(0, MAX_TABLE).map(([group, amount]) => {
      const { name = '?', prefix = '?' } = store.tables.groups[group] ?? {};
      return [printable(name), printable(prefix), format(amount)];
    });
    return [{ caption: trans.__('In memory at the peak'), columns: [trans.__('Group'), trans.__('Task type'), measureName(summary.measure, this.#metric)], rows }];
  }

  get #measure(): Measure {
    const wanted = this.#chosen ?? (this.#metric === null ? 'bytes' : 'metric');
    return wanted === 'metric' && this.#metric === null ? 'bytes' : wanted;
  }

  /** Whether nobody knows how much any of it was. */
  get #isUnknown(): boolean {
    return this.#summary !== null && isAllUnknown(this.#summary);
  }

  protected nothing(frame: TimeFrame | null): string {
    const { store, window } = this.context;
    if (frame === null) {
      return trans.__('waiting for the first compute');
    }
    if (store.held.isUnknown) {
      return trans.__('which results were in memory was not recorded');
    }
    if (!frame.growing && onCluster(store, window)) {
      return trans.__('no results were in memory when the workers were looked at, at most twice a second');
    }
    return frame.growing ? trans.__('no results in memory yet') : trans.__('no results were kept in memory');
  }

  /** The stack in sight; a cursor that moves over it does not make it another. */
  #stack({ room, ratio, frame: { span, nowS } }: Brush): Stack {
    const { store, window } = this.context;
    const columns = Math.max(Math.round(room.plotWidthPx * ratio), 1);
    const of = [store.held.version, store.version, this.#measure, window.id, span.startS, span.stopS, columns, nowS].join(' ');
    if (this.#last?.of !== of) {
      this.#last = { of, stack: this.#held().stack(span, columns, nowS) };
    }
    return this.#last.stack;
  }

  /** What was held, all that has come of it. */
  #held(): HeldStacks {
    const { store, window } = this.context;
    const moments = this.#moments.of(store.held, window, this.#measure);
    if (this.#stacks?.moments !== moments) {
      this.#stacks = new HeldStacks(store, window, moments);
    }
    return this.#stacks;
  }

  #entriesOf(summary: HeldSummary | null): CacheEntry[] {
    if (summary === null) {
      this.#peak = '';
      return [];
    }
    const { store } = this.context;
    const prefixes = byPrefix(store, summary.peak.groups);
    const format = formatterOf(summary.measure);
    this.#peak = peakText(summary, prefixes, this.#metric, this.zeroS);
    return prefixes.map(([prefix, amount]) => ({ prefix, colour: store.colour(store.tables.prefixId(prefix)), amount: format(amount) }));
  }
}

const MAX_LEGEND = 24;

export interface CacheEntry {
  readonly prefix: string;
  readonly colour: string;
  readonly amount: string;
}

export function CacheLegend({ entries }: { readonly entries: readonly CacheEntry[]; }): ComponentChildren {
  return (
    <ul class="tsk-legend tsk-legend-plain tsk-cache-legend" aria-label={trans.__('Task types at the peak')}>
      {entries.slice(0, MAX_LEGEND).map(({ prefix, colour, amount }) => <LegendRow name={prefix} look={{ background: colour }} amount={amount} />)}
      {entries.length > MAX_LEGEND && <li>{trans._n('%2 more task type', '%2 more task types', entries.length - MAX_LEGEND, formatCount(entries.length - MAX_LEGEND))}</li>}
    </ul>
  );
}

export const CACHE_CSS = `
.tsk-cache .tsk-series-head { flex-basis: 110px; align-items: center; gap: 4px 12px; }
.tsk-cache-now { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-cache-measures button {
  display: inline-flex; align-items: center; justify-content: center;
  min-width: 26px; height: 24px; padding: 0 8px; max-width: 24ch;
  border: 1px solid var(--tsk-line); border-radius: 3px;
  background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer;
}
.tsk-cache-measures button span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-cache-measures button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-cache-measures button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-cache-measures button[aria-pressed='true'] {
  border-color: var(--tsk-accent);
  background: color-mix(in srgb, var(--tsk-accent) 16%, transparent);
  font-weight: 600;
}
.tsk-cache-measures { display: flex; flex-wrap: wrap; gap: 4px; }
.tsk-cache .tsk-cache-peak { color: var(--tsk-ink); }
`;
