/** A canvas of plots over time: size, frames, axes, and the marks that such charts have in common. */
import { clamp, pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import { fittingTicks } from '../gantt/layout';
import type { TimeFrame } from '../ui/time-frame';
import type { Box, Plot, SeriesLayout } from './layout';
import { freePlace, yAt } from './layout';

const TEXT_PX = 11;
const HATCH_PX = 6;

/** Where the person points, and what part of the plots is being chosen. */
export interface Pointed {
  readonly cursorS: number | null;
  readonly bandPx: readonly [number, number] | null;
}

/** What one painting draws with; places are in CSS pixels. */
export class Brush {
  readonly #taken: Box[] = [];

  constructor(
    readonly context: CanvasRenderingContext2D,
    readonly layout: SeriesLayout,
    readonly frame: TimeFrame,
    readonly theme: Theme,
    /** Device pixels per CSS pixel. */
    readonly ratio: number
  ) {}

  xAt(timeS: number): number {
    return this.layout.plotLeftPx + pxAt(this.frame.span, this.layout.plotWidthPx, timeS);
  }

  /** Draw only inside of a plot. */
  inside(plot: Plot, draw: () => void): void {
    const { context, layout } = this;
    context.save();
    context.beginPath();
    context.rect(layout.plotLeftPx, plot.topPx - 1, layout.plotWidthPx, plot.heightPx + 1);
    context.clip();
    draw();
    context.restore();
  }

  line(x1: number, y1: number, x2: number, y2: number): void {
    this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.context.stroke();
  }

  /** Stripes over a stretch of time in which nothing was measured. */
  hatch(plot: Plot, startS: number, stopS: number): void {
    const { context, theme } = this;
    const left = this.xAt(startS);
    const right = Math.max(this.xAt(stopS), left + 3);
    context.save();
    context.beginPath();
    context.rect(left, plot.topPx, right - left, plot.heightPx);
    context.clip();
    context.strokeStyle = theme.faint;
    context.globalAlpha = 0.55;
    const from = Math.max(left, this.layout.plotLeftPx) - plot.heightPx;
    const to = Math.min(right, this.layout.plotLeftPx + this.layout.plotWidthPx);
    context.beginPath();
    for (let x = Math.floor(from / HATCH_PX) * HATCH_PX; x < to; x += HATCH_PX) {
      context.moveTo(x, plot.topPx + plot.heightPx);
      context.lineTo(x + plot.heightPx, plot.topPx);
    }
    context.stroke();
    context.restore();
  }

  /** A dashed line across a plot at a value, and what it is. */
  level(plot: Plot, value: number, text: string): void {
    const { context, layout, theme } = this;
    const y = Math.round(yAt(plot, value)) + 0.5;
    context.strokeStyle = theme.ink;
    context.setLineDash([5, 4]);
    this.line(layout.plotLeftPx, y, layout.plotLeftPx + layout.plotWidthPx, y);
    context.setLineDash([]);
    this.label(text, [
      { x: layout.plotLeftPx + layout.plotWidthPx, y: y - 8, align: 'right' },
      { x: layout.plotLeftPx + layout.plotWidthPx, y: y + 9, align: 'right' }
    ]);
  }

  /** A ring at a point, and what it is; nothing where its time is not in sight. */
  point(plot: Plot, timeS: number, value: number, text: string): void {
    const { context, layout, theme } = this;
    const x = this.xAt(timeS);
    if (x < layout.plotLeftPx - 1 || x > layout.plotLeftPx + layout.plotWidthPx + 1) {
      return;
    }
    const y = yAt(plot, value);
    context.beginPath();
    context.arc(x, y, 4, 0, 2 * Math.PI);
    context.fillStyle = theme.paper;
    context.fill();
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.5;
    context.stroke();
    context.lineWidth = 1;
    this.reserve({ leftPx: x - 5, topPx: y - 4, widthPx: 10, heightPx: 8 });
    this.label(text, [
      { x, y: y - 12, align: 'center' },
      { x: x + 9, y, align: 'left' },
      { x: x - 9, y, align: 'right' },
      { x, y: y + 13, align: 'center' }
    ]);
  }

  /** Text on a piece of paper at the first place that is free; left out where none is. */
  label(text: string, places: readonly { x: number; y: number; align: 'left' | 'center' | 'right' }[]): void {
    const { context, layout, theme } = this;
    const widthPx = context.measureText(text).width + 6;
    const boxes = places.map(({ x, y, align }) => {
      const left = align === 'left' ? x : align === 'right' ? x - widthPx : x - widthPx / 2;
      return {
        leftPx: clamp(left, layout.plotLeftPx, layout.plotLeftPx + layout.plotWidthPx - widthPx),
        topPx: clamp(y - TEXT_PX / 2 - 2, 0, layout.axisTopPx - TEXT_PX - 4),
        widthPx,
        heightPx: TEXT_PX + 4
      };
    });
    const box = freePlace(boxes, this.#taken);
    if (box === null) {
      return;
    }
    this.#taken.push(box);
    context.globalAlpha = 0.85;
    context.fillStyle = theme.paper;
    context.fillRect(box.leftPx, box.topPx, box.widthPx, box.heightPx);
    context.globalAlpha = 1;
    context.fillStyle = theme.ink;
    context.textAlign = 'left';
    context.fillText(text, box.leftPx + 3, box.topPx + box.heightPx / 2 + 0.5);
  }

  /** Keep labels off a place. */
  reserve(box: Box): void {
    this.#taken.push(box);
  }
}

export class SeriesCanvas {
  readonly #context: CanvasRenderingContext2D | null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.#context = canvas.getContext('2d', { alpha: false });
  }

  /** Paint axes around, and what `draw` draws between grid and cursor. */
  paint(
    layout: SeriesLayout,
    frame: TimeFrame,
    theme: Theme,
    pointed: Pointed,
    draw: (brush: Brush) => void
  ): void {
    const context = this.#context;
    if (context === null) {
      return;
    }
    const ratio = clamp(globalThis.devicePixelRatio || 1, 1, 3);
    this.#resize(layout, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, layout.widthPx, layout.heightPx);
    context.font = `${TEXT_PX}px ${theme.font}`;
    context.textBaseline = 'middle';
    context.lineWidth = 1;
    const brush = new Brush(context, layout, frame, theme, ratio);
    layout.plots.forEach(plot => {
      paintPlotAxis(brush, plot);
    });
    draw(brush);
    paintTimeAxis(brush);
    paintPointed(brush, pointed);
  }

  #resize({ widthPx, heightPx }: SeriesLayout, ratio: number): void {
    const width = Math.round(widthPx * ratio);
    const height = Math.round(heightPx * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.style.width = `${widthPx}px`;
      this.canvas.style.height = `${heightPx}px`;
    }
  }
}

function paintPlotAxis(brush: Brush, plot: Plot): void {
  const { context, layout, theme } = brush;
  const { plotLeftPx: left, plotWidthPx: width } = layout;
  context.fillStyle = theme.lane;
  context.fillRect(left, plot.topPx, width, plot.heightPx);
  context.strokeStyle = theme.line;
  context.fillStyle = theme.faint;
  context.textAlign = 'right';
  for (const { value, label } of plot.axis.ticks) {
    const y = Math.round(yAt(plot, value)) + 0.5;
    brush.line(left, y, left + width, y);
    context.fillText(label, left - 7, y);
  }
  context.textAlign = 'left';
  context.fillStyle = theme.ink;
  const titlePx = context.measureText(plot.title).width;
  // In a narrow chart the title begins beside the plot rather than end outside.
  const titleLeft = clamp(left + width - titlePx, 0, left);
  context.fillText(plot.title, titleLeft, plot.topPx - 10);
  brush.reserve({ leftPx: titleLeft, topPx: plot.topPx - 17, widthPx: titlePx + 8, heightPx: 15 });
}

function paintTimeAxis(brush: Brush): void {
  const { context, layout, frame, theme } = brush;
  const { plotLeftPx: left, plotWidthPx: width, axisTopPx: top } = layout;
  context.strokeStyle = theme.line;
  brush.line(left, top + 0.5, left + width, top + 0.5);
  const places = layout.ticks.map(({ timeS, label }) => ({
    px: pxAt(frame.span, width, timeS),
    labelPx: context.measureText(label).width,
    label
  }));
  const fits = fittingTicks(places, width);
  context.fillStyle = theme.faint;
  context.textAlign = 'left';
  places.forEach(({ px, labelPx, label }, i) => {
    const x = Math.round(left + px) + 0.5;
    brush.line(x, top, x, top + 4);
    if (fits[i] === true) {
      context.fillText(label, left + clamp(px - labelPx / 2, 0, width - labelPx), top + 14);
    }
  });
}

function paintPointed({ context, layout, frame, theme }: Brush, { cursorS, bandPx }: Pointed): void {
  const { plotLeftPx: left, plotWidthPx: width, axisTopPx: bottom } = layout;
  const top = layout.plots[0]?.topPx ?? 0;
  const cursorPx = cursorS === null ? -1 : pxAt(frame.span, width, cursorS);
  if (cursorPx >= 0 && cursorPx <= width) {
    context.fillStyle = theme.faint;
    context.fillRect(Math.round(left + cursorPx), top, 1, bottom - top);
  }
  if (bandPx !== null) {
    const [from, to] = bandPx.map(px => clamp(px, left, left + width)) as [number, number];
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.2;
    context.fillRect(Math.min(from, to), top, Math.abs(to - from), bottom - top);
    context.globalAlpha = 1;
  }
}
