/** A track of values over time, which is data: samples of quantities, their gauges and plots, and what else there is to say. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import { lowerBound, upperBound } from '../../lib/search';
import { Seen } from '../../lib/seen';
import { clamp } from '../../lib/span';
import { ThinLine } from '../../lib/thin';
import type { ValueAxis } from '../../lib/ticks';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { CanvasPoint } from '../ui/dom';
import type { LegendEntry } from '../ui/export';
import type { LegendItem } from '../ui/legend';
import { Legend } from '../ui/legend';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import type { Command } from './commands';
import type { Brush, Plot, PlotSpec } from './drawing';
import { gutterPx, layoutPlots, yAt } from './drawing';
import type { Peak, Quantity, QuantitySpec, Samples } from './quantity';
import type { ShownTime } from './time';
import type { Drawn, Tip, Track, TrackContext } from './track';

/** One sample is no history: the gauges say all of it. */
const MIN_SAMPLES = 2;
/** A limit beyond so many peaks is not on the scale: it would press the history flat. */
const FAR = 4;
/** No more samples than these are copied. */
const MAX_SAMPLES = 10_000;

/** A line with the area under it. */
export interface Line extends Pick<QuantitySpec, 'valueAt' | 'isMean'> {
  readonly widthPx?: number;
  /** How strong the area is. */
  readonly fill: number;
  readonly isDotted?: boolean;
}

export interface ValuePlot extends PlotSpec {
  readonly lines?: readonly Line[];
  /** Draws what is no line, inside of the plot. */
  readonly paint?: (brush: Brush, plot: Plot) => void;
  readonly limitBytes?: number | null;
  /** Whether a limit that is not on the scale is named at its top. */
  readonly namesFarLimit?: boolean;
  readonly peak?: Peak | null;
  /** How values are written at their peak. */
  readonly format: (value: number) => string;
}

/** All that a track shows. */
export interface Values {
  readonly plots: readonly ValuePlot[];
  /** Left out: it shows no samples. */
  readonly samples?: Samples;
  readonly quantities?: readonly Quantity[];
  /** What else there is to say at a time, a line each; `i`: the sample that stands for it. */
  readonly readings?: (timeS: number, i: number) => readonly string[];
  /** In a line; left out: its gauges. */
  readonly title?: string;
  /** Before its gauges, after the words below it, and those words. */
  readonly head?: ComponentChildren;
  readonly foot?: ComponentChildren;
  readonly notes?: readonly string[];
  readonly legend?: readonly LegendItem[];
  readonly tables?: () => readonly TextTable[];
}

export abstract class ValueTrack implements Track {
  abstract readonly name: string;
  abstract readonly label: string;
  readonly inBrief?: 'head';
  readonly css: string = VALUES_CSS;
  /** Whether a compute runs, and when its time began. */
  protected growing = false;
  protected zeroS = 0;
  readonly #seen = new Seen();
  #values: Values | null = null;
  /** The computes that the values are of. */
  #runs = '';
  #nothing: string | null = null;

  constructor(protected readonly context: TrackContext) {}

  get classes(): readonly [string, string] {
    return ['tsk-series', `tsk-${this.name}`];
  }

  /** What the values are worked out of, besides the computes. */
  protected abstract sources(): readonly unknown[];
  /** Work them out; where there are none, say why. */
  protected abstract read(time: ShownTime): Values | string;

  update(time: ShownTime | null): string | null {
    if (time === null) {
      this.#forget();
      return trans.__('waiting for the first compute');
    }
    const { id } = this.context.runRange;
    // While time is paused, the numbers of these computes stay as they are, unless the person wants others.
    if (!(time.paused && this.#values !== null && this.#runs === id) && this.#seen.isNew(...this.sources(), time.growing, id)) {
      this.#runs = id;
      this.zeroS = time.zeroS;
      this.growing = time.growing;
      const values = this.read(time);
      [this.#values, this.#nothing] = typeof values === 'string' ? [null, values] : [values, null];
    }
    return this.#nothing;
  }

  shown(): readonly unknown[] {
    return [this.#values];
  }

  /** The person wants other numbers: read them, though time may be paused. */
  protected choose(): void {
    this.#forget();
    this.context.request();
  }

  #forget(): void {
    this.#seen.forget();
    this.#values = null;
  }

  head(): ComponentChildren {
    return this.#values !== null && <div class="tsk-series-head">{this.#values.head}{this.#gauges().map(gauge => <Gauge {...gauge} />)}</div>;
  }

  foot(): ComponentChildren {
    if (this.#values === null) {
      return null;
    }
    const { notes = [], foot } = this.#values;
    return (
      <div class="tsk-series-foot">
        <p>{joined([this.#isOneSample ? trans.__('one sample') : '', ...notes])}</p>
        <Legend items={this.#legend()} />
        {foot}
      </div>
    );
  }

  title(): string {
    const gauges = this.#gauges().map(({ name, value, detail }) => `${name} ${value}, ${detail}`).join('; ');
    return this.#values?.title ?? (this.growing ? trans.__('Now: %1', gauges) : gauges);
  }

  description(): string {
    return `${this.title()}. ${trans.__('Arrows or A and D pan, plus and minus zoom, Shift with arrows reads values, Home shows all, F follows.')}`;
  }

  legend(): readonly LegendEntry[] {
    return this.#legend().flatMap(({ name, amount, look }) => (typeof look === 'string' ? [] : [{ name: `${name} ${amount}`, colour: look.background ?? '' }]));
  }

  commands(): readonly Command[] {
    return [
      { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], shown: trans.__('Shift+← →'), does: trans.__('read values'), run: key => { this.context.stepCursor(key === 'ArrowLeft' ? -1 : 1); } },
      { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('read no values'), run: () => { this.context.stepCursor(null); } },
      { text: trans.__('Copy as a table'), at: 'save', run: () => { this.context.exporter.copy([...this.tables(), ...this.#copied()]); } }
    ];
  }

  tables(): readonly TextTable[] {
    const { quantities = [], tables } = this.#values ?? {};
    const own: TextTable = {
      caption: this.label,
      columns: [trans.__('Resource'), ...(this.growing ? [trans.__('Now')] : []), trans.__('Mean'), trans.__('Peak'), trans.__('Peak at'), trans.__('Limit')],
      rows: quantities.filter(isShown).map(({ name, format, last, mean, hasMean, peak, ofLimit = '' }) =>
        [name, ...(this.growing ? [format(last)] : []), hasMean === true ? format(mean) : '', format(peak?.value ?? null), peak === null ? '' : formatDuration(peak.timeS - this.zeroS), ofLimit])
    };
    return [...(quantities.length === 0 ? [] : [own]), ...(tables?.() ?? [])];
  }

  gutterPx(): number {
    return gutterPx(this.#plots);
  }

  heightPx(): number {
    return layoutPlots(this.#plots).heightPx;
  }

  draw(brush: Brush): Drawn {
    const { plots } = layoutPlots(this.#plots);
    const samples = this.#values?.samples;
    plots.forEach(plot => { brush.plotAxis(plot); });
    plots.forEach(plot => {
      brush.inside(plot, () => {
        if (samples !== undefined) {
          plot.lines?.forEach(line => { drawLine(brush, plot, samples, line); });
        }
        plot.paint?.(brush, plot);
      });
    });
    plots.forEach(plot => { drawMarks(brush, plot); });
    return 'exact';
  }

  hit(_: CanvasPoint | null, timeS: number | null): Tip | null {
    return timeS === null ? null : { kind: 'reading', lines: [trans.__('at %1', formatDuration(timeS - this.zeroS)), ...this.#readings(timeS)] };
  }

  get #plots(): readonly ValuePlot[] {
    return this.#values === null || this.#isOneSample ? [] : this.#values.plots;
  }

  get #isOneSample(): boolean {
    const range = this.#values?.samples?.range;
    return range !== undefined && range[1] - range[0] < MIN_SAMPLES;
  }

  /** What runs shows the present; of what has ended the mean or the most says more. */
  #gauges(): readonly GaugeProps[] {
    const gauged = this.#values?.quantities?.filter(({ limit }) => limit !== undefined) ?? [];
    return gauged.map(({ name: own, gauge: name = own, format, last, mean, hasMean, peak, afterwards, limit, ofLimit = '' }) => {
      const most = peak?.value ?? null;
      const withPeak = { detail: trans.__('peak %1 · %2', format(most), ofLimit), peakShare: shareOf(most, limit) };
      if (this.growing) {
        return { name, value: format(last), share: shareOf(last, limit), ...withPeak };
      }
      return hasMean === true
        ? { name: trans.__('%1, mean', name), value: format(mean), share: shareOf(mean, limit), ...withPeak }
        : { name: trans.__('%1, peak', name), value: format(most), share: shareOf(most, limit), detail: joined([ofLimit, afterwards === null ? '' : trans.__('afterwards %1', format(afterwards))]), peakShare: null };
    });
  }

  #legend(): readonly LegendItem[] {
    const { quantities = [], legend = [] } = this.#values ?? {};
    return [...quantities.flatMap(({ name, look, format, last, peak }) =>
      (look === undefined ? [] : [{ name, look, amount: this.growing ? format(last) : trans.__('peak %1', format(peak?.value ?? null)) }])), ...legend];
  }

  #readings(timeS: number): readonly string[] {
    const { samples, quantities = [], readings } = this.#values ?? {};
    const i = samples?.at(timeS) ?? -1;
    const more = readings?.(timeS, i) ?? [];
    if (samples === undefined || i < samples.range[0] || i >= samples.range[1]) {
      return samples === undefined ? more : [trans.__('no samples'), ...more];
    }
    const said = quantities.filter(({ valueAt }) => !Number.isNaN(valueAt(i)));
    const text = ({ name, format, valueAt }: Quantity): string => `${name} ${format(valueAt(i))}`;
    if (samples.isGap?.(i) === true) {
      const gapS = (samples.timeS[i] as number) - (samples.timeS[i - 1] as number);
      return [trans.__('no samples for %1', formatDuration(gapS)), ...said.filter(({ isMean }) => isMean).map(quantity => trans.__('%1 on average over the gap', text(quantity))), ...more];
    }
    return [...said.map(text), ...more];
  }

  /** Every sample, the latest where there are too many, in plain numbers. */
  #copied(): readonly TextTable[] {
    const { samples, quantities = [] } = this.#values ?? {};
    const columns = quantities.flatMap(({ copied }) => (copied === undefined ? [] : [copied]));
    if (samples === undefined || columns.length === 0) {
      return [];
    }
    const [first, to] = samples.range;
    const [from, all] = [Math.max(first, to - MAX_SAMPLES), formatCount(to - first)];
    const plain = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? '' : String(value));
    return [{
      caption: from > first ? trans.__('The last %1 of %2 samples', formatCount(to - from), all) : trans._n('%2 sample', '%2 samples', to - first, all),
      columns: [trans.__('Time (s)'), ...columns.map(([title]) => title), trans.__('After a gap')],
      rows: Array.from({ length: to - from }, (_, k) => [
        ((samples.timeS[from + k] ?? NaN) - this.zeroS).toFixed(3), ...columns.map(([, valueAt]) => plain(valueAt(from + k))),
        samples.isGap?.(from + k) === true ? trans.__('yes') : trans.__('no')
      ])
    }];
  }
}

/** Whether it is in tables: what has a limit or a place in the legend always is, of the rest what was ever known. */
function isShown({ limit, look, peak }: Quantity): boolean {
  return limit !== undefined || look !== undefined || peak !== null;
}

/** What part of a limit a value is, 0 to 1; null: unknown. */
function shareOf(value: number | null, limit: number | null | undefined): number | null {
  return value !== null && typeof limit === 'number' && limit > 0 ? clamp(value / limit, 0, 1) : null;
}

/** The axis of bytes up to `most`, and up to their limit where that is not far. */
export function bytesAxis(most: number, limit: number | null): ValueAxis {
  return valueAxis(limit !== null && limit <= most * FAR ? Math.max(limit, most) * 1.02 : most * 1.1, 3, formatBytes);
}

/** The texts that are not empty, in a line. */
export function joined(texts: readonly string[]): string {
  return texts.filter(text => text !== '').join(' · ');
}

function drawLine(brush: Brush, plot: Plot, samples: Samples, line: Line): void {
  const { context, theme } = brush;
  const range = inSight(brush, samples);
  drawGaps(brush, plot, samples, range);
  const bottom = plot.topPx + plot.heightPx;
  context.strokeStyle = context.fillStyle = theme.accent;
  context.lineWidth = line.widthPx ?? 1;
  context.setLineDash(line.isDotted === true ? [2, 3] : []);
  for (const points of segmentsOf(brush, plot, { ...samples, ...line }, range)) {
    const [firstX, firstY, lastX] = [points[0] ?? 0, points[1] ?? 0, points.at(-2) ?? 0];
    if (points.length <= 2) {
      // A sample by itself.
      context.fillRect(firstX - 1.5, firstY - 1.5, 3, 3);
      continue;
    }
    context.beginPath();
    context.moveTo(firstX, firstY);
    for (let i = 2; i < points.length; i += 2) {
      context.lineTo(points[i] as number, points[i + 1] as number);
    }
    context.stroke();
    context.lineTo(lastX, bottom);
    context.lineTo(firstX, bottom);
    context.globalAlpha = line.fill;
    context.fill();
    context.globalAlpha = 1;
  }
  context.lineWidth = 1;
  context.setLineDash([]);
}

/** The samples in sight, and one more on each side; those that came while time is paused are not shown. */
function inSight({ time: { span, nowS, paused } }: Brush, { timeS, range: [first, last] }: Samples): [from: number, to: number] {
  const end = paused ? Math.min(upperBound(timeS, last, nowS), last) : last;
  return [Math.max(lowerBound(timeS, last, span.startS) - 1, first), Math.min(upperBound(timeS, last, span.stopS) + 1, end)];
}

function segmentsOf(brush: Brush, plot: Plot, { timeS, valueAt, continues, isMean }: Samples & Line, [from, to]: readonly [number, number]): readonly number[][] {
  const line = new ThinLine(1 / brush.ratio);
  for (let i = from; i < to; i += 1) {
    const [value, isNext] = [valueAt(i), i > from && continues(i)];
    if (!isNext) {
      line.lift();
    }
    if (Number.isNaN(value) || (isMean === true && !isNext)) {
      line.lift();
      continue;
    }
    if (isMean === true) {
      line.to(brush.xAt(timeS[i - 1] as number), yAt(plot, value));
    }
    line.to(brush.xAt(timeS[i] as number), yAt(plot, value));
  }
  return line.end();
}

function drawGaps(brush: Brush, plot: Plot, { timeS, isGap }: Samples, [from, to]: readonly [number, number]): void {
  for (let i = from + 1; isGap !== undefined && i < to; i += 1) {
    if (isGap(i)) {
      const [startS, stopS] = [timeS[i - 1] as number, timeS[i] as number];
      brush.hatch(plot, startS, stopS);
      const [left, right] = [brush.xAt(startS), brush.xAt(stopS)];
      const text = trans.__('no samples for %1', formatDuration(stopS - startS));
      if (right - left > brush.context.measureText(text).width + 12) {
        brush.label(text, [{ x: (left + right) / 2, y: plot.topPx + plot.heightPx / 2, align: 'center' }]);
      }
    }
  }
}

function drawMarks(brush: Brush, { limitBytes = null, namesFarLimit = false, peak = null, format, ...plot }: Plot & ValuePlot): void {
  if (limitBytes !== null && limitBytes <= plot.axis.top) {
    brush.level(plot, limitBytes, trans.__('limit %1', formatBytes(limitBytes)));
  } else if (limitBytes !== null && namesFarLimit) {
    const x = brush.room.plotLeftPx + brush.room.plotWidthPx;
    brush.label(trans.__('limit %1 (off scale) ↑', formatBytes(limitBytes)), [{ x, y: plot.topPx - 10, align: 'right' }]);
  }
  if (peak !== null) {
    brush.point(plot, peak.timeS, peak.value, trans.__('peak %1', format(peak.value)));
  }
}

interface GaugeProps {
  readonly name: string;
  readonly value: string;
  readonly detail: string;
  /** Parts of the limit, 0 to 1; null: unknown. */
  readonly share: number | null;
  readonly peakShare: number | null;
}

function Gauge({ name, value, detail, share, peakShare }: GaugeProps): ComponentChildren {
  const percent = (share ?? 0) * 100;
  return (
    <div class="tsk-gauge">
      <div>
        <span class="tsk-gauge-name">{name}</span><span class="tsk-gauge-value">{value}</span><span class="tsk-gauge-detail" title={detail}>{detail}</span>
      </div>
      <div
        class="tsk-gauge-bar" role="meter" aria-label={name} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(percent)}
        aria-valuetext={`${value}, ${detail}`}
      >
        <div class="tsk-gauge-fill" style={{ width: `${percent}%` }} />
        <div class="tsk-gauge-mark" hidden={peakShare === null} style={{ left: `${(peakShare ?? 0) * 100}%` }} />
      </div>
    </div>
  );
}

export const VALUES_CSS = `
.tsk-gauge { flex: 1 1 220px; min-width: 0; max-width: 460px; }
.tsk-gauge > div:first-child { display: flex; align-items: baseline; column-gap: 8px; white-space: nowrap; }
.tsk-gauge-name { font-weight: 600; }
.tsk-gauge-value { font-weight: 600; }
.tsk-gauge-detail { min-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--tsk-faint); }
@container (max-width: 520px) {
  .tsk-gauge > div:first-child { flex-wrap: wrap; }
  .tsk-gauge-detail { flex: 1 0 100%; white-space: normal; }
}
.tsk-gauge-bar {
  position: relative; height: 8px; margin: 2px 0; border: 1px solid var(--tsk-line); border-radius: 2px;
  background: color-mix(in srgb, var(--tsk-ink) 7%, var(--tsk-paper));
}
.tsk-gauge-fill { height: 100%; background: var(--tsk-accent); forced-color-adjust: none; }
.tsk-gauge-mark { position: absolute; top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--tsk-ink); forced-color-adjust: none; }
`;
