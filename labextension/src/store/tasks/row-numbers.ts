/** The recorder's numbers of the rows of a store, which has no places for rows that were dropped before they came. */
import type { LaneTasks } from './lane-tasks';
import type { TaskRef } from './selection';

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

/** The places of those that are here, by number. */
export function placesOf(
  numbers: readonly number[],
  known: RowNumbers,
  lanes: readonly (LaneTasks | undefined)[]
): Map<number, TaskRef> {
  const byRow = new Map(numbers.flatMap(number => {
    const row = known.rowOf(number);
    return row === null ? [] : [[row, number] as const];
  }));
  const places = new Map<number, TaskRef>();
  lanes.forEach((lane, id) => {
    for (let i = 0; lane !== undefined && i < lane.n && places.size < byRow.size; i += 1) {
      const row = lane.row[i] as number;
      const number = byRow.get(row);
      if (number !== undefined) {
        places.set(number, { lane: id, row, startS: lane.startS[i] as number });
      }
    }
  });
  return places;
}
