/** Progress as a picture file: its state, the bar, and a row for each prefix. */
import { formatCount, printable } from '../../lib/format';
import { parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import type { Counts, ProgressLayout } from './layout';
import type { ProgressWords } from './words';
import { rowCount } from './words';

const WIDTH_PX = 640;
const MARGIN_PX = 12;
const LINE_PX = 20;
const BAR_PX = 12;
const NAME_PX = 220;
const COUNT_PX = 140;
const MAX_ROWS = 60;
const MAX_ERRORS = 10;
const RATIO = 2;

/** Draw it, two pixels to one of CSS. */
export function progressPicture(
  layout: ProgressLayout,
  words: ProgressWords,
  errors: readonly string[],
  colourOf: (prefix: string) => string,
  theme: Theme
): HTMLCanvasElement {
  const rows = layout.prefixes.slice(0, MAX_ROWS);
  const more = layout.prefixes.length - rows.length;
  const lines = [words.error, ...errors.slice(0, MAX_ERRORS)].filter(line => line !== '');
  const height = 2 * MARGIN_PX + (3 + rows.length + (more > 0 ? 1 : 0) + lines.length) * LINE_PX;
  const canvas = document.createElement('canvas');
  canvas.width = WIDTH_PX * RATIO;
  canvas.height = height * RATIO;
  const context = canvas.getContext('2d');
  if (context === null) {
    return canvas;
  }
  context.scale(RATIO, RATIO);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, WIDTH_PX, height);
  context.textBaseline = 'middle';
  const pen = new Pen(context, theme);
  const wide = WIDTH_PX - 2 * MARGIN_PX;
  pen.text([words.state, words.count, words.percent].filter(word => word !== '').join(' · '), MARGIN_PX, wide, 'bold');
  pen.next();
  pen.bar(layout, theme.accent, MARGIN_PX, wide);
  pen.next();
  pen.text([words.elapsed, words.eta, words.stuck, words.running, words.ahead, words.erred, words.interrupted, words.lost, words.skipped, words.runs, words.others].filter(word => word !== '').join(' · '), MARGIN_PX, wide);
  for (const row of rows) {
    pen.next();
    const colour = colourOf(row.prefix);
    pen.box(MARGIN_PX, 10, colour);
    pen.text(printable(row.prefix, 60), MARGIN_PX + 18, NAME_PX - 24);
    pen.bar(row, colour, MARGIN_PX + NAME_PX, wide - NAME_PX - COUNT_PX);
    pen.text(rowCount(row), WIDTH_PX - MARGIN_PX - COUNT_PX + 10, COUNT_PX - 10);
  }
  if (more > 0) {
    pen.next();
    pen.text(`+ ${formatCount(more)}`, MARGIN_PX, wide);
  }
  for (const line of lines) {
    pen.next();
    pen.text(line, MARGIN_PX, wide);
  }
  return canvas;
}

/** Writes line by line. */
class Pen {
  #y = MARGIN_PX + LINE_PX / 2;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly theme: Theme
  ) {}

  next(): void {
    this.#y += LINE_PX;
  }

  text(text: string, x: number, widthPx: number, weight = ''): void {
    this.context.font = `${weight} 12px ${this.theme.font}`;
    this.context.fillStyle = this.theme.ink;
    this.context.fillText(text, x, this.#y, widthPx);
  }

  box(x: number, sizePx: number, colour: string): void {
    this.context.fillStyle = colour;
    this.context.fillRect(x, this.#y - sizePx / 2, sizePx, sizePx);
  }

  /** Finished plain; what failed or runs is striped, too, so that colour is not all. */
  bar({ total, finished, erred, interrupted, running }: Counts, colour: string, x: number, widthPx: number): void {
    const { context, theme } = this;
    context.fillStyle = theme.lane;
    context.fillRect(x, this.#y - BAR_PX / 2, widthPx, BAR_PX);
    let left = x;
    const parts = [[finished, colour, null], [erred, theme.error, '#2a0000'], [interrupted, theme.error, '#2a0000'], [running, colour, theme.paper]] as const;
    for (const [n, fill, stripe] of parts) {
      const width = total > 0 ? (widthPx * n) / total : 0;
      context.fillStyle = parseColour(fill) === null ? theme.ink : fill;
      context.fillRect(left, this.#y - BAR_PX / 2, width, BAR_PX);
      if (stripe !== null) {
        this.#stripes(left, width, stripe);
      }
      left += width;
    }
    context.strokeStyle = theme.line;
    context.strokeRect(x, this.#y - BAR_PX / 2, widthPx, BAR_PX);
  }

  #stripes(x: number, widthPx: number, colour: string): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, this.#y - BAR_PX / 2, widthPx, BAR_PX);
    context.clip();
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    for (let at = x - BAR_PX; at < x + widthPx; at += 5) {
      context.moveTo(at, this.#y + BAR_PX / 2);
      context.lineTo(at + BAR_PX, this.#y - BAR_PX / 2);
    }
    context.stroke();
    context.restore();
  }
}
