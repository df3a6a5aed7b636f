/** A track of values over time, described as data: plots with their lines, limits and peaks, gauges, and notes. */
import { formatBytes, formatDuration } from '../../lib/format';
import { lowerBound, upperBound } from '../../lib/search';
import { clamp } from '../../lib/span';
import { ThinLine } from '../../lib/thin';
import type { ValueAxis } from '../../lib/ticks';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { CanvasPoint } from '../ui/dom';
import type { LegendEntry } from '../ui/export';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { Command } from './commands';
import type { Brush, Plot, PlotSpec } from './drawing';
import { gutterPx, layoutPlots, yAt } from './drawing';
import type { TimeFrame } from './time';
import type { Drawn, Tip, Track, TrackContext } from './track';

/** One sample is no history: the gauges say all of it. */
export const MIN_SAMPLES = 2;
/** A limit beyond so many peaks is not on the scale: it would press the history flat. */
const FAR = 4;

export interface Peak {
  readonly value: number;
  readonly timeS: number;
}

/** Samples of one quantity, by time. */
export interface Values {
  readonly timeS: Float64Array;
  /** The samples that belong to the computes: from, and up to but not including. */
  readonly range: readonly [from: number, to: number];
  /** NaN: unknown. */
  readonly valueAt: (i: number) => number;
}

/** A line with the area under it. */
export interface Line extends Values {
  /** Whether a sample goes on from the one before. */
  readonly continues: (i: number) => boolean;
  /** Whether a value is the mean of the time since the sample before. */
  readonly isMean?: boolean;
  /** Whether samples are missing before this one. */
  readonly isGap?: (i: number) => boolean;
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

export interface GaugeReading {
  readonly name: string;
  readonly value: string;
  /** What else there is to say: peak, limit. */
  readonly detail: string;
  /** Parts of the limit, 0 to 1; null: unknown. */
  readonly share: number | null;
  readonly peakShare: number | null;
}

export abstract class ValueTrack implements Track {
  abstract readonly name: string;
  abstract readonly label: string;
  readonly inBrief?: 'head';
  readonly css: string = VALUES_CSS;
  /** Whether a compute runs, and when its time began. */
  protected growing = false;
  protected zeroS = 0;
  #seen = '';
  #hasNumbers = false;
  #isChosen = false;

  constructor(protected readonly context: TrackContext) {}

  get classes(): readonly [string, string] {
    return ['tsk-series', `tsk-${this.name}`];
  }

  /** What the numbers are worked out of; other values mean other numbers. */
  protected abstract sources(): readonly (string | number | null | undefined)[];
  /** Work out the numbers; returns whether there are any. */
  protected abstract read(): boolean;
  /** Why there are none. */
  protected abstract nothing(frame: TimeFrame | null): string;
  abstract plots(): readonly ValuePlot[];
  protected drawOver?(brush: Brush, plots: readonly Plot[]): void;
  /** What there is at a time, a line each. */
  protected abstract readings(timeS: number): readonly string[];
  abstract description(frame: TimeFrame): string;
  abstract tables(): readonly TextTable[];

  update(frame: TimeFrame | null): string | null {
    const seen = [...this.sources(), frame?.growing, this.context.window.id].join(' ');
    // While time is paused, numbers that were there before stand.
    if (this.#isChosen || (seen !== this.#seen && !(frame?.paused === true && this.#hasNumbers))) {
      this.#isChosen = false;
      this.#seen = seen;
      this.zeroS = frame?.zeroS ?? 0;
      this.growing = frame?.growing ?? false;
      this.#hasNumbers = this.read();
    }
    return this.#hasNumbers ? null : this.nothing(frame);
  }

  version(): string {
    return this.#seen;
  }

  /** The person wants other numbers: read them, though time may be paused. */
  protected choose(): void {
    this.#isChosen = true;
    this.context.request();
  }

  protected gauges(): readonly GaugeReading[] {
    return [];
  }

  protected notes(): readonly string[] {
    return [];
  }

  head(): ComponentChildren {
    return this.#hasNumbers && <div class="tsk-series-head">{this.gauges().map(reading => <Gauge {...reading} />)}</div>;
  }

  foot(): ComponentChildren {
    return this.#hasNumbers && <div class="tsk-series-foot"><p>{joined(this.notes())}</p></div>;
  }

  /** A sentence about its numbers, and its keys. */
  protected described(words: string): string {
    return `${words}. ${trans.__('Arrows or A and D pan, plus and minus zoom, Shift with arrows reads values, Home shows all, F follows.')}`;
  }

  title(): string {
    return this.label;
  }

  legend(): readonly LegendEntry[] {
    return [];
  }

  commands(): readonly Command[] {
    return [
      { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], shown: trans.__('Shift+← →'), does: trans.__('read values'), run: key => { this.context.stepCursor(key === 'ArrowLeft' ? -1 : 1); } },
      { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('read no values'), run: () => { this.context.stepCursor(null); } },
      { text: trans.__('Copy as a table'), at: 'export', run: () => { this.context.exporter.copy(this.copied()); } }
    ];
  }

  copied(): readonly TextTable[] {
    return this.tables();
  }

  gutterPx(): number {
    return gutterPx(this.plots());
  }

  heightPx(): number {
    return layoutPlots(this.plots()).heightPx;
  }

  draw(brush: Brush): Drawn {
    const { plots } = layoutPlots(this.plots());
    plots.forEach(plot => { brush.plotAxis(plot); });
    plots.forEach(plot => {
      brush.inside(plot, () => {
        plot.lines?.forEach(line => { drawLine(brush, plot, line); });
        plot.paint?.(brush, plot);
      });
    });
    plots.forEach(plot => { drawMarks(brush, plot); });
    this.drawOver?.(brush, plots);
    return 'exact';
  }

  hit(_: CanvasPoint | null, timeS: number | null): Tip | null {
    return timeS === null ? null : { kind: 'reading', lines: [trans.__('at %1', formatDuration(timeS - this.zeroS)), ...this.readings(timeS)] };
  }
}

/** The largest of some values; null: none is known. */
export function peakOf({ timeS, range: [from, to], valueAt }: Values): Peak | null {
  let peak: Peak | null = null;
  for (let i = from; i < to; i += 1) {
    const value = valueAt(i);
    if (peak === null ? !Number.isNaN(value) : value > peak.value) {
      peak = { value, timeS: timeS[i] as number };
    }
  }
  return peak;
}

/** The axis of bytes up to `most`, and up to their limit where that is not far. */
export function bytesAxis(most: number, limit: number | null): ValueAxis {
  return valueAxis(limit !== null && limit <= most * FAR ? Math.max(limit, most) * 1.02 : most * 1.1, 3, formatBytes);
}

/** The texts that are not empty, in a line. */
export function joined(texts: readonly string[]): string {
  return texts.filter(text => text !== '').join(' · ');
}

function drawLine(brush: Brush, plot: Plot, line: Line): void {
  const { context, theme } = brush;
  const range = inSight(brush, line);
  drawGaps(brush, plot, line, range);
  const bottom = plot.topPx + plot.heightPx;
  context.strokeStyle = context.fillStyle = theme.accent;
  context.lineWidth = line.widthPx ?? 1;
  context.setLineDash(line.isDotted === true ? [2, 3] : []);
  for (const points of segmentsOf(brush, plot, line, range)) {
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
function inSight({ frame: { span, nowS, paused } }: Brush, { timeS, range: [first, last] }: Line): [from: number, to: number] {
  const end = paused ? Math.min(upperBound(timeS, last, nowS), last) : last;
  return [Math.max(lowerBound(timeS, last, span.startS) - 1, first), Math.min(upperBound(timeS, last, span.stopS) + 1, end)];
}

function segmentsOf(brush: Brush, plot: Plot, { timeS, valueAt, continues, isMean }: Line, [from, to]: readonly [number, number]): readonly number[][] {
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

function drawGaps(brush: Brush, plot: Plot, { timeS, isGap }: Line, [from, to]: readonly [number, number]): void {
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

export function Gauge({ name, value, detail, share, peakShare }: GaugeReading): ComponentChildren {
  const percent = clamp((share ?? 0) * 100, 0, 100);
  return (
    <div class="tsk-gauge">
      <div>
        <span class="tsk-gauge-name">{name}</span><span class="tsk-gauge-value">{value}</span><span class="tsk-gauge-detail">{detail}</span>
      </div>
      <div
        class="tsk-gauge-bar" role="meter" aria-label={name} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(percent)}
        aria-valuetext={`${value}, ${detail}`}
      >
        <div class="tsk-gauge-fill" style={{ width: `${percent}%` }} />
        <div class="tsk-gauge-mark" hidden={peakShare === null} style={{ left: `${clamp((peakShare ?? 0) * 100, 0, 100)}%` }} />
      </div>
    </div>
  );
}

export const VALUES_CSS = `
.tsk-gauge { flex: 1 1 220px; min-width: 0; max-width: 460px; }
.tsk-gauge > div:first-child { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: 8px; }
.tsk-gauge-name { font-weight: 600; }
.tsk-gauge-value { font-weight: 600; }
.tsk-gauge-detail { color: var(--tsk-faint); }
.tsk-gauge-bar {
  position: relative; height: 8px; margin: 2px 0; border: 1px solid var(--tsk-line); border-radius: 2px;
  background: color-mix(in srgb, var(--tsk-ink) 7%, var(--tsk-paper));
}
.tsk-gauge-fill { height: 100%; background: var(--tsk-accent); forced-color-adjust: none; }
.tsk-gauge-mark { position: absolute; top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--tsk-ink); forced-color-adjust: none; }
`;
