/** The history of workers: CPU, memory as results, the rest of the processes, and what was written to disk, and how their event loops lag. */
import { formatBytes } from '../../lib/format';
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import { ThinLine } from '../../lib/thin';
import { trans } from '../../lib/translate';
import type { Quantity, WorkerSeries } from '../../store';
import { ofEachQuantity } from '../../store';
import { formatCpu } from '../resources/summary';
import type { Brush, Plot } from '../timeline/drawing';
import { yAt } from '../timeline/drawing';

const STRONG = 0.45;
const WEAK = 0.16;

export function drawWorkers(
  brush: Brush, plots: readonly Plot[], series: WorkerSeries, summary: WorkersSummary, cpuShare: (percent: number) => number
): void {
  const [cpu, memory, lag] = plots;
  if (cpu === undefined || memory === undefined) {
    return;
  }
  const line = (plot: Plot, valueOf: (i: number) => number): number[][] => linesOf(brush, series, summary, plot, valueOf);
  const resultsOf = (i: number): number => Math.min(series.managedBytes[i] as number, series.rssBytes[i] as number);
  brush.inside(cpu, () => {
    area(brush, cpu, line(cpu, i => cpuShare(series.cpuPercent[i] as number)), WEAK);
  });
  brush.inside(memory, () => {
    area(brush, memory, line(memory, i => series.rssBytes[i] as number), WEAK);
    area(brush, memory, line(memory, resultsOf), STRONG);
    brush.context.setLineDash([2, 3]);
    area(brush, memory, line(memory, i => series.spilledBytes[i] as number), 0);
    brush.context.setLineDash([]);
  });
  if (lag !== undefined) {
    brush.inside(lag, () => {
      area(brush, lag, line(lag, i => series.tickS[i] as number), WEAK);
    });
  }
  marks(brush, cpu, memory, summary, cpuShare);
}

function linesOf(
  brush: Brush, series: WorkerSeries, { from, to }: WorkersSummary, plot: Plot, valueOf: (i: number) => number
): number[][] {
  const line = new ThinLine(1 / brush.ratio);
  const lastS = brush.frame.paused ? brush.frame.nowS : Infinity;
  for (let i = from; i < to && (series.timeS[i] as number) <= lastS; i += 1) {
    const value = valueOf(i);
    if (Number.isNaN(value) || series.nWorkers[i] === 0) {
      line.lift();
      continue;
    }
    if (!series.continues(i)) {
      line.lift();
    }
    line.to(brush.xAt(series.timeS[i] as number), yAt(plot, value));
  }
  return line.end().map(points => [...points]);
}

/** Lines, and the area under them as strong as `fill`. */
function area({ context, theme }: Brush, plot: Plot, segments: readonly number[][], fill: number): void {
  const bottom = plot.topPx + plot.heightPx;
  context.strokeStyle = context.fillStyle = theme.accent;
  for (const points of segments) {
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
    context.globalAlpha = fill;
    context.fill();
    context.globalAlpha = 1;
  }
}

function marks(brush: Brush, cpu: Plot, memory: Plot, { peak, last }: WorkersSummary, cpuShare: (percent: number) => number): void {
  const limit = last.limitBytes ?? peak.limitBytes?.value ?? null;
  if (limit !== null && limit <= memory.axis.top) {
    brush.level(memory, limit, trans.__('limit %1', formatBytes(limit)));
  }
  if (peak.cpuPercent !== null) {
    const share = cpuShare(peak.cpuPercent.value);
    brush.point(cpu, peak.cpuPercent.timeS, share, trans.__('peak %1', formatCpu(share)));
  }
  if (peak.rssBytes !== null) {
    brush.point(memory, peak.rssBytes.timeS, peak.rssBytes.value, trans.__('peak %1', formatBytes(peak.rssBytes.value)));
  }
}

export interface WorkersSummary {
  /** The samples that belong to the computes: from, and up to but not including. */
  readonly from: number;
  readonly to: number;
  /** How many workers the last sample is of. */
  readonly nWorkers: number;
  /** Of the last sample; null: unknown. */
  readonly last: Readonly<Record<Quantity, number | null>>;
  /** The most, and when; null where it was never known. */
  readonly peak: Readonly<Record<Quantity, { readonly value: number; readonly timeS: number } | null>>;
}

/** Work out the numbers; null without a sample. */
export function summariseWorkers(series: WorkerSeries, span: Span): WorkersSummary | null {
  const from = upperBound(series.timeS, series.n, span.startS);
  const to = upperBound(series.timeS, series.n, span.stopS);
  if (from >= to) {
    return null;
  }
  const known = (quantity: Quantity, i: number): number | null => {
    const value = series[quantity][i] ?? NaN;
    return Number.isNaN(value) ? null : value;
  };
  const peakOf = (quantity: Quantity): { value: number; timeS: number } | null => {
    let peak: { value: number; timeS: number } | null = null;
    for (let i = from; i < to; i += 1) {
      const value = known(quantity, i);
      if (value !== null && (peak === null || value > peak.value)) {
        peak = { value, timeS: series.timeS[i] as number };
      }
    }
    return peak;
  };
  return {
    from, to, nWorkers: series.nWorkers[to - 1] as number,
    last: ofEachQuantity(quantity => known(quantity, to - 1)), peak: ofEachQuantity(peakOf)
  };
}

/** What a process's memory has besides results; null: unknown. Where results are measured larger than the process it is 0. */
export function unmanagedBytes(rss: number | null, managed: number | null): number | null {
  return rss === null || managed === null ? null : Math.max(rss - managed, 0);
}
