/** The recorder's numbers of the rows of a store, which has no places for rows that were dropped before they came. */

interface Stretch {
  /** First row here, and its number there. */
  readonly row: number;
  readonly number: number;
}

export class RowNumbers {
  #stretches: Stretch[] = [];

  /** Row `row` is number `number`, and so on from there. */
  begin(row: number, number: number): void {
    const last = this.#stretches.at(-1);
    if (last === undefined || last.number - last.row !== number - row) {
      this.#stretches.push({ row, number });
    }
  }

  /** The recorder's number of a row. */
  numberOf(row: number): number {
    const stretch = this.#stretches.findLast(candidate => candidate.row <= row);
    return stretch === undefined ? row : stretch.number + row - stretch.row;
  }

  /** The first row whose number is `number` or more, if it came or is the next to come. */
  firstRowFrom(number: number): number {
    const i = this.#stretches.findLastIndex(candidate => candidate.number <= number);
    const stretch = this.#stretches[i];
    const next = this.#stretches[i + 1]?.row ?? Infinity;
    return stretch === undefined ? 0 : Math.min(stretch.row + number - stretch.number, next);
  }

  /** Forget rows before `row`. */
  drop(row: number): void {
    const i = this.#stretches.findLastIndex(candidate => candidate.row <= row);
    this.#stretches.splice(0, i);
  }

  /** The row with a number, if it came; rows beyond the last are not told apart from those to come. */
  rowOf(number: number): number | null {
    const i = this.#stretches.findLastIndex(candidate => candidate.number <= number);
    const stretch = this.#stretches[i];
    if (stretch === undefined) {
      return null;
    }
    const row = stretch.row + number - stretch.number;
    return row < (this.#stretches[i + 1]?.row ?? Infinity) ? row : null;
  }
}
