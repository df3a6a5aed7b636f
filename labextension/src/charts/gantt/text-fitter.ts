/** Text cut to a width; measured once. */
import { printable } from '../../lib/format';

const MAX_KNOWN = 2000;

export class TextFitter {
  readonly #widths = new Map<string, number>();

  /** `text`, shortened with an ellipsis until it is at most `widthPx` wide; empty if nothing fits. */
  fit(context: CanvasRenderingContext2D, text: string, widthPx: number): string {
    const shown = printable(text, 80);
    if (this.#width(context, shown) <= widthPx) {
      return shown;
    }
    let low = 0;
    let high = shown.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#width(context, `${shown.slice(0, middle)}…`) <= widthPx) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low === 0 ? '' : `${shown.slice(0, low)}…`;
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
