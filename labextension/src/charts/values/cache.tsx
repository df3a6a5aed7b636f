/** Results that are kept in memory: the stack, its peak, and the same in words. */
import { formatBytes, formatCount, formatDuration, formatShares, printable } from '../../lib/format';
import { Seen } from '../../lib/seen';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { Measure } from '../../store';
import { LatestMoments } from '../../store';
import type { Brush } from '../timeline/drawing';
import type { ShownTime } from '../timeline/time';
import type { TrackContext } from '../timeline/track';
import type { ValuePlot, Values } from '../timeline/value-track';
import { ValueTrack, joined } from '../timeline/value-track';
import type { ComponentChildren } from '../ui/render';
import type { HeldSummary, Stack } from './held';
import { HeldStacks, byPrefix, drawStack, metricName, onCluster, summariseHeld } from './held';

/** Of a plot that says why there is none. */
const NOTE_PX = 44;
const MAX_TABLE = 50;
const MAX_READ = 5;
const MAX_PARTS = 4;
const MEASURES = ['bytes', 'count', 'metric'] as const;

export class CacheTrack extends ValueTrack {
  readonly name = 'cache';
  override readonly css = CACHE_CSS;
  readonly label = trans.__('Results in memory');
  readonly #moments = new LatestMoments();
  #stacks: HeldStacks | null = null;
  readonly #drawn = new Seen();
  #stack: Stack | null = null;

  /** @param chosen what is shown; null: the user's metric where there is one, else bytes */
  constructor(context: TrackContext, private chosen: Measure | null) {
    super(context);
  }

  protected sources(): readonly unknown[] {
    return [this.context.store.version];
  }

  protected read({ growing }: ShownTime): Values | string {
    const { store, runRange } = this.context;
    const metric = metricName(store, runRange);
    const wanted = this.chosen ?? 'metric';
    const measure = wanted === 'metric' && metric === null ? 'bytes' : wanted;
    const summary = summariseHeld(store, runRange, this.#held(measure).moments);
    if (summary === null) {
      return this.#whyNot(growing);
    }
    const words = new MeasureWords(measure, metric);
    const { peak } = summary;
    const prefixes = byPrefix(store, peak.groups);
    const peakText = words.peak(summary, prefixes, this.zeroS);
    const label = summary.isOnCluster ? trans.__('Results in memory of the workers') : this.label;
    const isUnknown = words.isAllUnknown(summary);
    const plot: ValuePlot = {
      title: words.title(summary.isOnCluster), format: words.amount,
      ...(isUnknown ? { axis: { top: 1, ticks: [] }, heightPx: NOTE_PX, paint: (brush, { topPx, heightPx }) => {
        const { plotLeftPx, plotWidthPx } = brush.room;
        brush.label(words.allUnknown, [{ x: plotLeftPx + plotWidthPx / 2, y: topPx + heightPx / 2, align: 'center' }]);
      } } : {
        axis: valueAxis(peak.total * 1.08, 3, words.format, measure !== 'metric'), heightPx: 140, peak: peak.total === 0 ? null : { value: peak.total, timeS: peak.timeS },
        paint: (brush, place) => { drawStack(brush, place, this.#stackOf(brush, measure), prefix => store.colour(prefix)); }
      })
    };
    return {
      plots: [plot],
      title: `${label}: ${words.now(summary, growing)}. ${peakText}`,
      readings: timeS => this.#readings(timeS, words),
      head: <><div class="tsk-cache-now">{words.now(summary, growing)}</div>{this.#measures(measure, metric)}</>,
      notes: [peakText],
      legend: prefixes.map(([prefix, amount]) => ({ name: prefix, look: { background: store.colour(store.tables.prefixId(prefix)) }, amount: words.format(amount) })),
      tables: () => [{
        caption: trans.__('In memory at the peak'), columns: [trans.__('Group'), trans.__('Task type'), words.name],
        rows: peak.groups.slice(0, MAX_TABLE).map(([group, amount]) => {
          const { name = '?', prefix = '?' } = store.tables.groups[group] ?? {};
          return [printable(name), printable(prefix), words.format(amount)];
        })
      }]
    };
  }

  #whyNot(growing: boolean): string {
    const { store, runRange } = this.context;
    if (store.held.isUnknown) {
      return trans.__('which results were in memory was not recorded');
    }
    if (growing) {
      return trans.__('no results in memory yet');
    }
    return onCluster(store, runRange) ? trans.__('no results were in memory when the workers were looked at, at most twice a second') : trans.__('no results were kept in memory');
  }

  #readings(timeS: number, { measure, amount, format }: MeasureWords): string[] {
    const stack = this.#held(measure).stack({ startS: timeS, stopS: timeS + 1e-9 }, 1, timeS);
    const parts = stack.prefixes
      .map((prefix, i) => [this.context.store.tables.prefixes[prefix] ?? '?', stack.amounts[i] ?? 0] as const)
      .filter(([, part]) => part > 0)
      .sort((a, b) => b[1] - a[1]);
    const total = parts.reduce((sum, [, part]) => sum + part, 0);
    return [amount(total), ...parts.slice(0, MAX_READ).map(([prefix, part]) => `${printable(prefix, 40)} ${format(part)}`)];
  }

  #measures(shown: Measure, metric: string | null): ComponentChildren {
    return (
      <div class="tsk-bar tsk-cache-measures" role="group" aria-label={trans.__('Measure')}>
        {MEASURES.map(measure => (
          <button
            type="button" hidden={measure === 'metric' && metric === null} aria-pressed={measure === shown}
            onClick={() => {
              this.chosen = measure;
              this.choose();
            }}
          >
            <span>{new MeasureWords(measure, metric).name}</span>
          </button>
        ))}
      </div>
    );
  }

  /** The stack in sight; a cursor that moves over it does not make it another. */
  #stackOf({ room, ratio, time: { span, nowS } }: Brush, measure: Measure): Stack {
    const { store, runRange } = this.context;
    const columns = Math.max(Math.round(room.plotWidthPx * ratio), 1);
    if (this.#drawn.isNew(store.version, measure, runRange.id, span.startS, span.stopS, columns, nowS) || this.#stack === null) {
      this.#stack = this.#held(measure).stack(span, columns, nowS);
    }
    return this.#stack;
  }

  /** What was held, all that has come of it. */
  #held(measure: Measure): HeldStacks {
    const { store, runRange } = this.context;
    const moments = this.#moments.of(store.held, runRange, measure);
    if (this.#stacks?.moments !== moments) {
      this.#stacks = new HeldStacks(store, runRange, moments);
    }
    return this.#stacks;
  }
}

/** How amounts of one measure are named and written. */
export class MeasureWords {
  readonly name: string;
  readonly format: (amount: number) => string;
  /** An amount that reads by itself, with the name of the metric, or of results. */
  readonly amount: (amount: number) => string;

  constructor(readonly measure: Measure, metric: string | null) {
    // A metric has no unit that we know: five digits, thousands separated.
    const digits = (amount: number): string => amount.toLocaleString('en-US', { maximumSignificantDigits: 5 });
    const whole = (amount: number): string => formatCount(Math.round(amount));
    this.name = { bytes: trans.__('Bytes'), count: trans.__('Count'), metric: printable(metric ?? trans.__('Metric'), 40) }[measure];
    this.format = { bytes: formatBytes, count: whole, metric: digits }[measure];
    this.amount = { bytes: formatBytes, count: resultsText, metric: (amount: number) => `${digits(amount)} ${this.name}` }[measure];
  }

  title(isOnCluster: boolean): string {
    const what = { bytes: trans.__('bytes'), count: trans.__('results'), metric: this.name }[this.measure];
    return isOnCluster ? trans.__('On the workers · %1', what) : trans.__('Kept by the scheduler · %1', what);
  }

  get allUnknown(): string {
    return this.measure === 'bytes' ? trans.__('all sizes are unknown') : trans.__('all values of %1 are unknown', this.name);
  }

  /** Whether there were results whose amounts nobody knows, and no others. */
  isAllUnknown({ peak }: Pick<HeldSummary, 'peak'>): boolean {
    return peak.total === 0 && peak.unknown > 0 && this.measure !== 'count';
  }

  now({ total, unknown, nKeys }: HeldSummary, growing: boolean): string {
    if (!growing && nKeys === 0) {
      return trans.__('none in memory now');
    }
    return trans.__('now %1', joined([this.amount(total), this.measure === 'count' ? '' : resultsText(nKeys), this.#unknown(unknown)]));
  }

  /** The most that was held, when, and which prefixes made it up. */
  peak(summary: Pick<HeldSummary, 'peak' | 'isLowerBound'>, prefixes: readonly (readonly [prefix: string, amount: number])[], zeroS: number): string {
    if (this.isAllUnknown(summary)) {
      return trans.__('Peak not known: %1', this.allUnknown);
    }
    const { peak: { total, unknown, timeS }, isLowerBound } = summary;
    const [amount, at] = [this.amount(total), formatDuration(timeS - zeroS)];
    const head = isLowerBound ? trans.__('Peak at least %1 at %2', amount, at) : trans.__('Peak %1 at %2', amount, at);
    const shares = formatShares(prefixes.map(([, part]) => part), total);
    const parts = prefixes.slice(0, MAX_PARTS).map(([prefix, part], i) => `${printable(prefix, 60)} ${this.format(part)}${total > 0 ? ` (${shares[i]})` : ''}`);
    const rest = prefixes.length - parts.length;
    const all = rest > 0 ? [...parts, trans._n('%2 more task type', '%2 more task types', rest, formatCount(rest))] : parts;
    return joined([`${head}${all.length > 0 ? `: ${all.join(', ')}` : ''}`, this.#unknown(unknown)]);
  }

  /** How many results are left out of a sum; empty where none is. */
  #unknown(n: number): string {
    if (n === 0 || this.measure === 'count') {
      return '';
    }
    return this.measure === 'metric'
      ? trans._n('%2 result without a value of %3', '%2 results without a value of %3', n, formatCount(n), this.name)
      : trans._n('%2 result of unknown size', '%2 results of unknown size', n, formatCount(n));
  }
}

function resultsText(n: number): string {
  return trans._n('%2 result', '%2 results', Math.round(n), formatCount(Math.round(n)));
}

export const CACHE_CSS = `
.tsk-cache .tsk-series-head { flex-basis: 110px; align-items: center; gap: 4px 12px; }
.tsk-cache-now { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-cache-measures button { max-width: 24ch; }
.tsk-cache-measures span { overflow: hidden; text-overflow: ellipsis; }
.tsk-cache .tsk-series-foot p { color: var(--tsk-ink); }
`;
