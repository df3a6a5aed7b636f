/** The history of workers: CPU, memory as results, the rest of the processes, and what was written to disk, and how their event loops lag. */
import { formatBytes } from '../../lib/format';
import { ThinLine } from '../../lib/thin';
import { trans } from '../../lib/translate';
import type { WorkerSeries } from '../../store';
import { formatCpu } from '../resources/words';
import type { Brush } from '../timeline/drawing/brush';
import type { Plot } from '../timeline/drawing/plots';
import { yAt } from '../timeline/drawing/plots';
import type { WorkersSummary } from './workers-summary';

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
