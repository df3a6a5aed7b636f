/** Where a track may draw: named spaces, and the time that lies on them; pure geometry in CSS pixels. */
import type { Span } from '../../lib/span';
import { clamp, pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { Tick, ValueAxis } from '../../lib/ticks';
import { timeTicks } from '../../lib/ticks';
import type { PlotBox, ShownTime } from './time';

/** A track's part of its canvas: labels left of the plot, the axis below it. */
export interface Room extends PlotBox {
  readonly widthPx: number;
  /** Of what is in sight, without the axis. */
  readonly heightPx: number;
  /** How far a track that is higher than its room is scrolled. */
  readonly scrollPx: number;
  readonly ticks: readonly Tick[];
  /** Whether it is in a brief view, which is low. */
  readonly isBrief: boolean;
}

/** A track that is higher than this scrolls. */
export const MAX_TRACK_PX = 420;
export const MAX_BRIEF_PX = 112;
const MIN_WIDTH_PX = 200;
const RIGHT_PX = 12;
const TICK_PX = 88;
/** A step is up to two and a half times what was asked for, and one label alone is no scale. */
const MIN_TICKS = 3;

/** How wide a track is in a box of the page. */
export function trackWidthPx(clientPx: number): number {
  return Math.max(clientPx, MIN_WIDTH_PX);
}

interface RoomInput {
  readonly widthPx: number;
  /** Of all of the track. */
  readonly heightPx: number;
  readonly leftPx: number;
  readonly scrollPx: number;
  readonly span: Span;
  /** What the axis calls 0. */
  readonly zeroS: number;
  readonly isBrief?: boolean;
}

export function roomOf({ widthPx, heightPx, leftPx, scrollPx, span, zeroS, isBrief = false }: RoomInput): Room {
  const plotWidthPx = Math.max(widthPx - leftPx - RIGHT_PX, 40);
  return {
    widthPx,
    heightPx: Math.min(heightPx, isBrief ? MAX_BRIEF_PX : MAX_TRACK_PX),
    plotLeftPx: leftPx,
    plotWidthPx,
    scrollPx,
    ticks: timeTicks(span, zeroS, Math.max(Math.floor(plotWidthPx / TICK_PX), MIN_TICKS)),
    isBrief
  };
}

export interface PlotSpec {
  readonly title: string;
  readonly axis: ValueAxis;
  readonly heightPx: number;
}

export interface Plot extends PlotSpec {
  readonly topPx: number;
}

/** Above each plot, for its title and the labels that stand on its top edge. */
export const TITLE_PX = 18;
const GAP_PX = 6;
const CHARACTER_PX = 6.3;

/** The plots at their places, and how high they are together. */
export function layoutPlots<Spec extends PlotSpec>(specs: readonly Spec[]): { readonly plots: readonly (Spec & Plot)[]; readonly heightPx: number } {
  let bottom = 0;
  const plots = specs.map(spec => {
    const topPx = bottom + TITLE_PX;
    bottom = topPx + spec.heightPx + GAP_PX;
    return { ...spec, topPx };
  });
  return { plots, heightPx: Math.max(bottom - GAP_PX, 0) };
}

/** How much room the labels of the value axes ask for. */
export function gutterPx(specs: readonly PlotSpec[]): number {
  const labels = specs.flatMap(spec => spec.axis.ticks.map(tick => tick.label.length));
  return Math.round(Math.max(...labels, 4) * CHARACTER_PX + 16);
}

/** Where a value lies; what is above the plot's top stays on it. */
export function yAt({ topPx, heightPx, axis }: Plot, value: number): number {
  return topPx + heightPx * (1 - Math.min(Math.max(value / axis.top, 0), 1));
}

export interface Box {
  readonly leftPx: number;
  readonly topPx: number;
  readonly widthPx: number;
  readonly heightPx: number;
}

/** The first of the places at which a label touches none of those that stand already; null: none is free. */
export function freePlace(places: readonly Box[], taken: readonly Box[]): Box | null {
  return places.find(place => !taken.some(other => touches(place, other))) ?? null;
}

function touches(a: Box, b: Box): boolean {
  return (
    a.leftPx < b.leftPx + b.widthPx &&
    b.leftPx < a.leftPx + a.widthPx &&
    a.topPx < b.topPx + b.heightPx &&
    b.topPx < a.topPx + a.heightPx
  );
}

const TEXT_PX = 11;
const HATCH_PX = 6;

/** What one painting draws with; places are in CSS pixels. */
export class Brush {
  readonly #taken: Box[] = [];

  constructor(
    readonly context: CanvasRenderingContext2D,
    readonly room: Room,
    readonly time: ShownTime,
    readonly theme: Theme,
    /** Device pixels per CSS pixel. */
    readonly ratio: number
  ) {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `${TEXT_PX}px ${theme.font}`;
    context.textBaseline = 'middle';
    context.lineWidth = 1;
  }

  xAt(timeS: number): number {
    return this.room.plotLeftPx + pxAt(this.time.span, this.room.plotWidthPx, timeS);
  }

  inside(plot: Plot, draw: () => void): void {
    const { context, room } = this;
    context.save();
    context.beginPath();
    context.rect(room.plotLeftPx, plot.topPx - 1, room.plotWidthPx, plot.heightPx + 1);
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
    const from = Math.max(left, this.room.plotLeftPx) - plot.heightPx;
    const to = Math.min(right, this.room.plotLeftPx + this.room.plotWidthPx);
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
    const { context, room, theme } = this;
    const y = Math.round(yAt(plot, value)) + 0.5;
    context.strokeStyle = theme.ink;
    context.setLineDash([5, 4]);
    this.line(room.plotLeftPx, y, room.plotLeftPx + room.plotWidthPx, y);
    context.setLineDash([]);
    this.label(text, [
      { x: room.plotLeftPx + room.plotWidthPx, y: y - 8, align: 'right' },
      { x: room.plotLeftPx + room.plotWidthPx, y: y + 9, align: 'right' }
    ]);
  }

  /** A ring at a point, and what it is; nothing where its time is not in sight. */
  point(plot: Plot, timeS: number, value: number, text: string): void {
    const { context, room, theme } = this;
    const x = this.xAt(timeS);
    if (x < room.plotLeftPx - 1 || x > room.plotLeftPx + room.plotWidthPx + 1) {
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
    const { context, room, theme } = this;
    const widthPx = context.measureText(text).width + 6;
    const boxes = places.map(({ x, y, align }) => {
      const left = align === 'left' ? x : align === 'right' ? x - widthPx : x - widthPx / 2;
      return {
        leftPx: clamp(left, room.plotLeftPx, room.plotLeftPx + room.plotWidthPx - widthPx),
        topPx: clamp(y - TEXT_PX / 2 - 2, 0, room.heightPx - TEXT_PX - 4),
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

  /** The ground of a plot, its value axis and its title. */
  plotAxis(plot: Plot): void {
    const { context, room, theme } = this;
    const { plotLeftPx: left, plotWidthPx: width } = room;
    context.fillStyle = theme.lane;
    context.fillRect(left, plot.topPx, width, plot.heightPx);
    context.strokeStyle = theme.line;
    const titlePx = context.measureText(plot.title).width;
    // In a narrow chart the title begins beside the plot rather than end outside; the label of the top stands below it then.
    const titleLeft = clamp(left + width - titlePx, 0, left);
    context.fillStyle = theme.faint;
    context.textAlign = 'right';
    for (const { value, label } of plot.axis.ticks) {
      const y = Math.round(yAt(plot, value)) + 0.5;
      this.line(left, y, left + width, y);
      context.fillText(label, left - 7, titleLeft < left && y < plot.topPx + 2 ? y + 5 : y);
    }
    context.textAlign = 'left';
    context.fillStyle = theme.ink;
    context.fillText(plot.title, titleLeft, plot.topPx - 10.5);
    this.reserve({ leftPx: titleLeft, topPx: plot.topPx - 17, widthPx: titlePx + 8, heightPx: 15 });
  }
}

/** How much the axis takes below a track. */
export const AXIS_PX = 26;

export function paintTimeAxis(brush: Brush): void {
  const { context, room, time, theme } = brush;
  const { plotLeftPx: left, plotWidthPx: width, heightPx: top } = room;
  context.strokeStyle = theme.line;
  brush.line(left, top + 0.5, left + width, top + 0.5);
  const places = room.ticks.map(({ timeS, label }) => ({
    px: pxAt(time.span, width, timeS),
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
      context.fillText(label, left + clamp(px - labelPx / 2, 0, width - labelPx), top + 15);
    }
  });
}

/** The present, and the time that is selected. */
export function paintSpans(brush: Brush, range: Span | null, hasAxis: boolean): void {
  const { context, room, time, theme } = brush;
  const { plotLeftPx: left, plotWidthPx: width, heightPx: bottom } = room;
  context.fillStyle = context.strokeStyle = theme.accent;
  const nowPx = pxAt(time.span, width, time.nowS);
  if (time.growing && nowPx >= 0 && nowPx <= width) {
    const x = Math.round(left + nowPx) + 0.5;
    brush.line(x, 0, x, bottom);
  }
  if (range !== null && range.startS < time.span.stopS && range.stopS > time.span.startS) {
    const [from, to] = [range.startS, range.stopS].map(timeS => left + clamp(pxAt(time.span, width, timeS), 0, width)) as [number, number];
    context.globalAlpha = 0.08;
    context.fillRect(from, 0, to - from, bottom);
    context.globalAlpha = 1;
    context.strokeRect(from, 0.5, to - from, bottom - 1);
    if (hasAxis) {
      // What was dragged on the ruler is seen on it.
      context.fillRect(from, bottom, to - from, 4);
    }
  }
}

/** Ticks whose labels neither overlap nor leave the plot, given how wide each label is. */
export function fittingTicks(
  places: readonly { readonly px: number; readonly labelPx: number }[],
  widthPx: number,
  gapPx = 12
): boolean[] {
  let reach = -Infinity;
  return places.map(({ px, labelPx }) => {
    const left = Math.min(Math.max(px - labelPx / 2, 0), widthPx - labelPx);
    const fits = left >= reach;
    if (fits) {
      reach = left + labelPx + gapPx;
    }
    return fits;
  });
}
