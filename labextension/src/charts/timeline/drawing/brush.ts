/** What a track draws with: the canvas, where its part of it is, and the marks that charts over time have in common. */
import { clamp, pxAt } from '../../../lib/span';
import type { Theme } from '../../../lib/theme';
import type { Box, Plot } from './plots';
import { freePlace, yAt } from './plots';
import type { TimeFrame } from '../time/time-frame';
import type { Room } from './room';

const TEXT_PX = 11;
const HATCH_PX = 6;

/** What one painting draws with; places are in CSS pixels. */
export class Brush {
  readonly #taken: Box[] = [];

  constructor(
    readonly context: CanvasRenderingContext2D,
    readonly room: Room,
    readonly frame: TimeFrame,
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
    return this.room.plotLeftPx + pxAt(this.frame.span, this.room.plotWidthPx, timeS);
  }

  /** Draw only inside of a plot. */
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
