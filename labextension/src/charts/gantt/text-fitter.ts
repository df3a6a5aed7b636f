/** Text cut to a width; measured once. */
import { printable } from '../../lib/format';

const MAX_KNOWN = 2000;

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
