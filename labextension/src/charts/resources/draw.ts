/** The history of CPU and memory: steps, lines that end where measuring did, limits and peaks. */
import { ThinLine } from '../../lib/thin';
import { formatBytes, formatDuration } from '../../lib/format';
import type { Span } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { ResourceStore } from '../../store';
import type { Brush, Plot } from '../timeline/drawing';
import { yAt } from '../timeline/drawing';
import type { ResourceSummary } from './summary';
import { continues, cpuShareOf, formatCpu } from './summary';

const FILL = 0.22;

export function drawResources(brush: Brush, plots: readonly Plot[], store: ResourceStore, own: Span, summary: ResourceSummary): void {
  const [cpu, memory] = plots;
  if (cpu === undefined || memory === undefined) {
    return;
  }
  const { span, nowS, paused } = brush.frame;
  // What came while time is paused is not shown.
  const range = inSight(store, paused ? { ...own, stopS: Math.min(own.stopS, nowS) } : own, span);
  for (const plot of [cpu, memory]) {
    brush.inside(plot, () => {
      drawGaps(brush, store, range, plot);
    });
  }
  brush.inside(cpu, () => {
    drawArea(brush, cpu, cpuSteps(brush, store, range, cpu));
  });
  brush.inside(memory, () => {
    drawArea(brush, memory, memoryLine(brush, store, range, memory));
  });
  drawMarks(brush, cpu, memory, summary);
}

/** The samples in sight, and one more on each side. */
function inSight(store: ResourceStore, own: Span, shown: Span): [from: number, to: number] {
  const [first, last] = store.within(own);
  const [from, to] = store.within(shown);
  return [Math.max(from - 1, first), Math.min(to + 1, last)];
}

type Range = readonly [from: number, to: number];

/** The mean since the sample before stands over the time since then. */
function cpuSteps(brush: Brush, store: ResourceStore, [from, to]: Range, plot: Plot): readonly number[][] {
  const line = new ThinLine(1 / brush.ratio);
  for (let i = from + 1; i < to; i += 1) {
    if (!continues(store, i)) {
      line.lift();
      continue;
    }
    const y = yAt(plot, cpuShareOf(store, i) ?? 0);
    line.to(brush.xAt(store.timeS[i - 1] as number), y);
    line.to(brush.xAt(store.timeS[i] as number), y);
  }
  return line.end();
}

function memoryLine(brush: Brush, store: ResourceStore, [from, to]: Range, plot: Plot): readonly number[][] {
  const line = new ThinLine(1 / brush.ratio);
  for (let i = from; i < to; i += 1) {
    if (!continues(store, i)) {
      line.lift();
    }
    line.to(brush.xAt(store.timeS[i] as number), yAt(plot, store.rssBytes[i] as number));
  }
  return line.end();
}

function drawArea({ context, theme }: Brush, plot: Plot, segments: readonly number[][]): void {
  const bottom = plot.topPx + plot.heightPx;
  context.strokeStyle = theme.accent;
  context.fillStyle = theme.accent;
  for (const points of segments) {
    const firstX = points[0] ?? 0;
    const lastX = points[points.length - 2] ?? 0;
    context.beginPath();
    context.moveTo(firstX, points[1] ?? 0);
    for (let i = 2; i < points.length; i += 2) {
      context.lineTo(points[i] as number, points[i + 1] as number);
    }
    if (points.length <= 2) {
      // A sample by itself.
      context.fillRect(firstX - 1.5, (points[1] ?? 0) - 1.5, 3, 3);
      continue;
    }
    context.lineWidth = 1.5;
    context.stroke();
    context.lineWidth = 1;
    context.lineTo(lastX, bottom);
    context.lineTo(firstX, bottom);
    context.globalAlpha = FILL;
    context.fill();
    context.globalAlpha = 1;
  }
}

function drawGaps(brush: Brush, store: ResourceStore, [from, to]: Range, plot: Plot): void {
  for (let i = from + 1; i < to; i += 1) {
    if (store.gap[i] === 1) {
      const [startS, stopS] = [store.timeS[i - 1] as number, store.timeS[i] as number];
      brush.hatch(plot, startS, stopS);
      const [left, right] = [brush.xAt(startS), brush.xAt(stopS)];
      const text = trans.__('no samples for %1', formatDuration(stopS - startS));
      if (right - left > brush.context.measureText(text).width + 12) {
        brush.label(text, [{ x: (left + right) / 2, y: plot.topPx + plot.heightPx / 2, align: 'center' }]);
      }
    }
  }
}

function drawMarks(brush: Brush, cpu: Plot, memory: Plot, summary: ResourceSummary): void {
  const { cpuPeak, rssPeak, limitBytes } = summary;
  if (limitBytes !== null && limitBytes <= memory.axis.top) {
    brush.level(memory, limitBytes, trans.__('limit %1', formatBytes(limitBytes)));
  } else if (limitBytes !== null) {
    const x = brush.room.plotLeftPx + brush.room.plotWidthPx;
    brush.label(trans.__('limit %1 (off scale) ↑', formatBytes(limitBytes)), [{ x, y: memory.topPx - 10, align: 'right' }]);
  }
  if (cpuPeak !== null) {
    brush.point(cpu, cpuPeak.timeS, cpuPeak.value, trans.__('peak %1', formatCpu(cpuPeak.value)));
  }
  brush.point(memory, rssPeak.timeS, rssPeak.value, trans.__('peak %1', formatBytes(rssPeak.value)));
}
