/** What the scheduler holds of some computes: the stack, its peak, and the same in words. */
import { formatDuration, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import { valueAxis } from '../../lib/value-ticks';
import type { Measure, TaskStore } from '../../store';
import type { Brush } from '../series/canvas';
import type { PlotSpec } from '../series/layout';
import type { SeriesParts } from '../series/parts';
import type { SeriesContent } from '../series/view';
import type { ShownWindow } from '../ui/shown-window';
import { element, setText } from '../ui/dom';
import type { TextTable } from '../ui/text-table';
import { fillTable } from '../ui/text-table';
import type { TimeFrame } from '../ui/time-frame';
import { drawStack } from './draw';
import type { LegendEntry } from './legend';
import { fillLegend } from './legend';
import { stackHeld } from './stack';
import { CACHE_CSS } from './style';
import type { HeldSummary } from './summary';
import { byPrefix, metricName, onCluster, summariseHeld } from './summary';
import { amountText, formatterOf, labelText, measureName, nowText, peakText, titleText } from './words';

const PLOT_PX = 140;
const MAX_TABLE = 50;
const MAX_READ = 5;

export class CacheContent implements SeriesContent {
  readonly name = 'cache';
  readonly css = CACHE_CSS;
  readonly label: string;
  readonly #now = element('div', { class: 'tsk-cache-now' });
  readonly #measures: HTMLElement;
  readonly #buttons = new Map<Measure, HTMLButtonElement>();
  readonly #peak = element('p', { class: 'tsk-cache-peak' });
  readonly #legend: HTMLElement;
  #parts: SeriesParts | null = null;
  #chosen: Measure | null;
  #metric: string | null = null;
  #summary: HeldSummary | null = null;
  #zeroS = 0;
  #seen = '';
  #heldChoice: Measure | null = null;
  #entries: readonly LegendEntry[] = [];
  #table: TextTable | null = null;

  /** @param measure what is shown at first; null: the user's metric where there is one, else bytes */
  constructor(
    private readonly store: TaskStore,
    private readonly window: ShownWindow,
    private readonly t: Translate,
    measure: Measure | null
  ) {
    this.#chosen = measure;
    this.label = t('What the scheduler holds');
    this.#legend = element('ul', { class: 'tsk-cache-legend', 'aria-label': t('Prefixes at the peak') });
    this.#measures = element('div', { class: 'tsk-cache-measures', role: 'group', 'aria-label': t('Measure') });
  }

  build(parts: SeriesParts, changed: () => void, signal: AbortSignal): void {
    this.#parts = parts;
    for (const measure of ['bytes', 'count', 'metric'] as const) {
      const button = element('button', { type: 'button' }, element('span'));
      button.addEventListener(
        'click',
        () => {
          this.#chosen = measure;
          changed();
        },
        { signal }
      );
      this.#buttons.set(measure, button);
      this.#measures.append(button);
    }
    parts.head.append(this.#now, this.#measures);
    parts.foot.append(this.#peak, this.#legend);
  }

  describe(frame: TimeFrame | null): string | null {
    this.#refresh(frame);
    const nothing = this.#nothing(frame);
    const { head, foot } = this.#parts ?? {};
    if (head !== undefined && foot !== undefined) {
      head.hidden = foot.hidden = nothing !== null;
    }
    return nothing;
  }

  plots(): readonly PlotSpec[] {
    const measure = this.#measure;
    const axis = valueAxis((this.#summary?.peak.total ?? 0) * 1.08, 3, formatterOf(measure), measure !== 'metric');
    return [{ title: titleText(measure, this.#metric, this.#summary?.isOnCluster ?? false, this.t), axis, heightPx: PLOT_PX }];
  }

  draw(brush: Brush): void {
    const [plot] = brush.layout.plots;
    const summary = this.#summary;
    if (plot === undefined || summary === null) {
      return;
    }
    const columns = Math.max(Math.round(brush.layout.plotWidthPx * brush.ratio), 1);
    const { span, nowS } = brush.frame;
    const stack = stackHeld(this.store, this.window, this.#measure, span, columns, nowS);
    const colours = this.store.colours(this.window.whole);
    brush.inside(plot, () => {
      drawStack(brush, plot, stack, prefix => colours.colour(prefix));
    });
    const { total, timeS } = summary.peak;
    if (total > 0) {
      brush.point(plot, timeS, total, this.t('peak %1', amountText(this.#measure, total, this.#metric, this.t)));
    }
  }

  readout(timeS: number): readonly string[] | null {
    const { t } = this;
    const measure = this.#measure;
    const span = { startS: timeS, stopS: timeS + 1e-9 };
    const stack = stackHeld(this.store, this.window, measure, span, 1, timeS);
    const format = formatterOf(measure);
    const parts = stack.prefixes
      .map((prefix, i) => [this.store.tables.prefixes[prefix] ?? '?', stack.amounts[i] ?? 0] as const)
      .filter(([, amount]) => amount > 0)
      .sort((a, b) => b[1] - a[1]);
    const total = parts.reduce((sum, [, amount]) => sum + amount, 0);
    return [
      t('at %1', formatDuration(timeS - this.#zeroS)),
      amountText(measure, total, this.#metric, t),
      ...parts.slice(0, MAX_READ).map(([prefix, amount]) => `${printable(prefix, 40)} ${format(amount)}`)
    ];
  }

  get #measure(): Measure {
    const wanted = this.#chosen ?? (this.#metric === null ? 'bytes' : 'metric');
    return wanted === 'metric' && this.#metric === null ? 'bytes' : wanted;
  }

  #nothing(frame: TimeFrame | null): string | null {
    if (this.#summary !== null) {
      return null;
    }
    if (frame === null) {
      return this.t('waiting for the first compute');
    }
    if (this.store.held.isUnknown) {
      return this.t('what was held was not recorded');
    }
    if (!frame.growing && onCluster(this.store, this.window)) {
      return this.t('nothing was held when the workers were looked at, at most twice a second');
    }
    return frame.growing ? this.t('nothing is held yet') : this.t('nothing was held');
  }

  title(): string {
    const prefixes = byPrefix(this.store, this.#summary?.peak.groups ?? []);
    const peak = this.#summary === null ? '' : peakText(this.#summary, prefixes, this.#metric, this.#zeroS, this.t);
    return `${this.label}: ${peak}`;
  }

  legend(): readonly { name: string; colour: string }[] {
    return this.#entries.map(({ prefix, colour, amount }) => ({ name: `${prefix} ${amount}`, colour }));
  }

  tables(): readonly TextTable[] {
    return this.#table === null ? [] : [this.#table];
  }

  #refresh(frame: TimeFrame | null): void {
    const { held, version } = this.store;
    const seen = `${held.version} ${version} ${String(this.#chosen)} ${String(frame?.growing)} ${this.window.firstRun}`;
    // While time is held, words that were said before stand.
    if (seen === this.#seen || (frame?.held === true && this.#summary !== null && this.#heldChoice === this.#chosen)) {
      return;
    }
    this.#seen = seen;
    this.#heldChoice = this.#chosen;
    this.#zeroS = frame?.zeroS ?? 0;
    this.#metric = metricName(this.store, this.window);
    this.#summary = summariseHeld(this.store, this.window, this.#measure);
    this.#tellMeasures();
    if (this.#summary !== null) {
      this.#tell(this.#summary, frame?.growing ?? false);
    }
  }

  #tellMeasures(): void {
    for (const [measure, button] of this.#buttons) {
      button.hidden = measure === 'metric' && this.#metric === null;
      button.setAttribute('aria-pressed', String(measure === this.#measure));
      const label = button.firstElementChild;
      if (label instanceof HTMLElement) {
        setText(label, measureName(measure, this.#metric, this.t));
      }
    }
  }

  #tell(summary: HeldSummary, growing: boolean): void {
    const { t } = this;
    const prefixes = byPrefix(this.store, summary.peak.groups);
    const colours = this.store.colours(this.window.whole);
    const format = formatterOf(summary.measure);
    const now = nowText(summary, this.#metric, growing, t);
    const peak = peakText(summary, prefixes, this.#metric, this.#zeroS, t);
    setText(this.#now, now);
    setText(this.#peak, peak);
    this.#entries = prefixes.map(([prefix, amount]) => ({
      prefix,
      colour: colours.colour(this.store.tables.prefixId(prefix)),
      amount: format(amount)
    }));
    fillLegend(this.#legend, this.#entries, t);
    this.#parts?.canvas.setAttribute('aria-label', labelText(now, peak, summary.isOnCluster, t));
    if (this.#parts !== null) {
      const rows = summary.peak.groups.slice(0, MAX_TABLE).map(([group, amount]) => {
        const { name = '?', prefix = '?' } = this.store.tables.groups[group] ?? {};
        return [printable(name), printable(prefix), format(amount)];
      });
      const columns = [t('Group'), t('Prefix'), measureName(summary.measure, this.#metric, t)];
      this.#table = { caption: t('Held at the peak'), columns, rows };
      fillTable(this.#parts.table, this.#table);
    }
  }
}
