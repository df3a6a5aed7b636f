/** What every canvas needs: pixels as the screen has them, text cut to a width, lines and shapes. */
import { printable } from '../../lib/format';
import { clamp } from '../../lib/span';

const MAX_KNOWN = 2000;

/** Device pixels per pixel of CSS, as far as they are worth painting. */
export function pixelRatio(): number {
  return clamp(globalThis.devicePixelRatio || 1, 1, 3);
}

/** Make a canvas as large as a box of CSS pixels; what was on it stays where it has that size. */
export function fitCanvas(canvas: HTMLCanvasElement, widthPx: number, heightPx: number, ratio: number): void {
  const [width, height] = [Math.round(widthPx * ratio), Math.round(heightPx * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${widthPx}px`;
    canvas.style.height = `${heightPx}px`;
  }
}

export class TextFitter {
  readonly #widths = new Map<string, number>();

  /**
   * `text`, shortened with an ellipsis until it is at most `widthPx` wide; empty if nothing fits.
   * Names of workers differ in their ends, so `cut` may be their middle.
   */
  fit(context: CanvasRenderingContext2D, text: string, widthPx: number, cut: 'middle' | 'end' = 'end'): string {
    const shown = printable(text, 80);
    if (this.#width(context, shown) <= widthPx) {
      return shown;
    }
    let low = 0;
    let high = shown.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#width(context, shortened(shown, middle, cut)) <= widthPx) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low === 0 ? '' : shortened(shown, low, cut);
  }

  #width(context: CanvasRenderingContext2D, text: string): number {
    let width = this.#widths.get(text);
    if (width === undefined) {
      if (this.#widths.size >= MAX_KNOWN) {
        this.#widths.clear();
      }
      width = context.measureText(text).width;
      this.#widths.set(text, width);
    }
    return width;
  }
}

/** `length` characters of a text and an ellipsis for the others. */
function shortened(text: string, length: number, cut: 'middle' | 'end'): string {
  const tail = cut === 'middle' ? Math.ceil(length * 0.6) : 0;
  return `${text.slice(0, length - tail)}…${tail === 0 ? '' : text.slice(-tail)}`;
}

export function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Fill and outline a closed shape. */
export function shape(context: CanvasRenderingContext2D, corners: readonly (readonly [x: number, y: number])[]): void {
  context.beginPath();
  corners.forEach(([x, y], i) => {
    if (i === 0) {
      context.moveTo(x, y);
    } else {
      context.lineTo(x, y);
    }
  });
  context.closePath();
  context.fill();
  context.stroke();
}

export function clipped(context: CanvasRenderingContext2D, box: readonly [x: number, y: number, width: number, height: number], draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(...box);
  context.clip();
  draw();
  context.restore();
}
