/** A line of any number of points as one that looks the same: first, lowest, highest and last of each pixel column. */

export class ThinLine {
  /** Stretches without a break, each as x, y, x, y, … */
  readonly segments: number[][] = [];
  #open: number[] | null = null;
  #column = 0;
  #n = 0;
  #low = 0;
  #high = 0;
  #highFirst = false;
  #x = 0;
  #y = 0;

  /** @param columnPx how wide a pixel is in the units of x */
  constructor(private readonly columnPx = 1) {}

  /** Go on to a point; x never goes back. */
  to(x: number, y: number): void {
    const column = Math.floor(x / this.columnPx);
    if (this.#open === null || column !== this.#column) {
      this.#flush();
      this.#open ??= this.#begin();
      this.#open.push(x, y);
      this.#column = column;
      this.#n = 0;
      this.#low = this.#high = y;
    } else {
      this.#n += 1;
      if (y > this.#high) {
        this.#high = y;
        this.#highFirst = false;
      } else if (y < this.#low) {
        this.#low = y;
        this.#highFirst = true;
      }
    }
    this.#x = x;
    this.#y = y;
  }

  /** What comes next is not joined to what came before. */
  lift(): void {
    this.#flush();
    this.#open = null;
  }

  /** All stretches, the last one included. */
  end(): readonly number[][] {
    this.lift();
    return this.segments;
  }

  #begin(): number[] {
    const segment: number[] = [];
    this.segments.push(segment);
    return segment;
  }

  #flush(): void {
    if (this.#open === null || this.#n === 0) {
      return;
    }
    if (this.#n > 1) {
      const [one, other] = this.#highFirst ? [this.#high, this.#low] : [this.#low, this.#high];
      this.#open.push(this.#x, one, this.#x, other);
    }
    this.#open.push(this.#x, this.#y);
    this.#n = 0;
  }
}
