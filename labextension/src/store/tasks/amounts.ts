/** How much of each column each prefix takes, and which one takes most, kept up with every addition. */

export const NO_PREFIX = 65535;

/** Cells of the table: with more prefixes and columns than these, columns are done some at a time. */
const MAX_CELLS = 2 ** 22;

export class Amounts {
  /** How many columns are done at a time. */
  stride = 0;
  /** The prefix with most of each column, counted from the first one of this round; NO_PREFIX: none. */
  strongest = new Uint16Array(0);
  #most = new Float32Array(0);
  #cells = new Float32Array(0);
  /** The round in which a cell was written: older ones count as empty, so that none has to be cleared. */
  #written = new Uint32Array(0);
  #round = 0;

  /** Make room for `columns`, or as many of them as can be done at a time. */
  resize(columns: number, nPrefixes: number): void {
    this.stride = Math.max(Math.min(columns, Math.floor(MAX_CELLS / Math.max(nPrefixes, 1))), 1);
    const nCells = this.stride * Math.max(nPrefixes, 1);
    if (this.#cells.length < nCells) {
      this.#cells = new Float32Array(nCells);
      this.#written = new Uint32Array(nCells);
    }
    if (this.#most.length < this.stride) {
      this.#most = new Float32Array(this.stride);
      this.strongest = new Uint16Array(this.stride);
    }
  }

  begin(): void {
    this.#round += 1;
    if (this.#round > 0xffffffff) {
      this.#written.fill(0);
      this.#round = 1;
    }
    this.#most.fill(0);
    this.strongest.fill(NO_PREFIX);
  }

  /** Add to a column, counted from the first one of this round. */
  add(column: number, prefix: number, amount: number): void {
    const cell = prefix * this.stride + column;
    const sum = this.#written[cell] === this.#round ? (this.#cells[cell] as number) + amount : amount;
    this.#written[cell] = this.#round;
    this.#cells[cell] = sum;
    if (sum > (this.#most[column] as number)) {
      this.#most[column] = sum;
      this.strongest[column] = prefix;
    }
  }

  get(column: number, prefix: number): number {
    const cell = prefix * this.stride + column;
    return this.#written[cell] === this.#round ? (this.#cells[cell] as number) : 0;
  }
}
