/** Rows that came in any number of batches, by the recorder's numbers, and in lanes in order of their start. */
import type { Numbers } from '../../wire';
import { knownOf } from '../columns';
import { LaneTasks } from './lane-tasks';
import type { TaskRef } from './selection';

/** So many rows more may be held before old ones go. */
const SLACK = 65_536;

/** Of the rows of a batch the first `skip` are here already; row `i` is row `base + i` here. */
export interface Taken {
  readonly skip: number;
  readonly base: number;
}

export abstract class LaneRows {
  #n = 0;
  #firstRow = 0;
  #lanes: (LaneTasks | undefined)[] = [];
  #numbers = new RowNumbers();
  #nextNumber = 0;
  #neverCame = 0;

  /** Rows held. */
  get n(): number {
    return this.#n;
  }
  /** The first row that is held. */
  get firstRow(): number {
    return this.#firstRow;
  }
  /** The recorder's number of the next row to come. */
  get nextNumber(): number {
    return this.#nextNumber;
  }
  /** Rows before the next one that are not here: dropped before they came, or since. */
  get missing(): number {
    return this.#neverCame + this.#firstRow;
  }
  /** Lanes that rows are in, by id. */
  get laneIds(): number[] {
    return this.#lanes.flatMap((lane, id) => (lane === undefined ? [] : [id]));
  }

  lane(id: number): LaneTasks | undefined {
    return this.#lanes[id];
  }

  /** The recorder's number of a row. */
  numberOf(row: number): number {
    return this.#numbers.numberOf(row);
  }

  /** Where the rows with these numbers of the recorder are, as far as they are here. */
  placesOf(numbers: readonly number[]): ReadonlyMap<number, TaskRef> {
    return placesOf(numbers, this.#numbers, this.#lanes);
  }

  /** Keep the rows that the recorder keeps, and no more than `most`; not for each message, because it moves all that stays. */
  dropOld(dropped: number, most = Infinity): void {
    const first = this.#firstRow;
    const next = first + this.#n;
    const row = Math.min(Math.max(this.#numbers.firstRowFrom(dropped), next - most, first), next);
    if (row - first < SLACK && (row < next || row === first)) {
      return;
    }
    this.#n -= row - first;
    this.#firstRow = row;
    this.#numbers.drop(row);
    for (const lane of this.#lanes) {
      lane?.drop(row);
    }
    this.dropped(row, row - first);
  }

  /** Put the rows of a batch that are not here yet into their lanes: `push` appends its row `i` as row `row`. */
  protected take(first: number, n: number, lanes: Numbers, push: (lane: LaneTasks, i: number, row: number) => void): Taken {
    this.#neverCame += Math.max(first - this.#nextNumber, 0);
    const skip = knownOf(first, n, this.#nextNumber);
    const base = this.#firstRow + this.#n - skip;
    if (skip < n) {
      this.#numbers.begin(base + skip, first + skip);
    }
    const touched = new Set<LaneTasks>();
    for (let i = skip; i < n; i += 1) {
      const lane = (this.#lanes[lanes[i] as number] ??= new LaneTasks());
      touched.add(lane);
      push(lane, i, base + i);
    }
    touched.forEach(lane => { lane.settle(); });
    this.#n += n - skip;
    this.#nextNumber = Math.max(this.#nextNumber, first + n);
    return { skip, base };
  }

  /** The first `count` rows went: those before `row`. */
  protected abstract dropped(row: number, count: number): void;
}

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

function placesOf(
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
