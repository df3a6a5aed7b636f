/** Equally long typed columns: rows are appended, dropped when they are old, picked, and put in order. */
import { upperBound } from '../lib/search';

type Growable = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;
type Layout = Readonly<Record<string, new (length: number) => Growable>>;
type ColumnsOf<L extends Layout> = { [C in keyof L]: InstanceType<L[C]> };

/** `array` if it has room for `length` entries, else a larger copy. */
export function roomFor<T extends Growable>(array: T, length: number): T {
  if (length <= array.length) {
    return array;
  }
  const make = array.constructor as new (n: number) => T;
  const larger = new make(Math.max(length, Math.ceil(array.length * 1.5), 64));
  larger.set(array);
  return larger;
}

/** The first `n` entries without the first `count`; a copy only where most of the room would stay unused. */
export function withoutFirst<T extends Growable>(array: T, count: number, n: number): T {
  if ((n - count) * 4 < array.length) {
    return array.slice(count, n) as T;
  }
  array.copyWithin(0, count, n);
  return array;
}

/** How many of `count` rows from number `first` on are before number `next`: they have come already. */
export function knownOf(first: number, count: number, next: number): number {
  return Math.min(Math.max(next - first, 0), count);
}

/** A table whose columns are fields of these names and types, in which only the first `n` entries count. */
export abstract class ColumnTable {
  n = 0;
  readonly #names: readonly string[];

  constructor(layout: Layout) {
    this.#names = Object.keys(layout);
    for (const [name, type] of Object.entries(layout)) {
      this.#fields[name] = new type(0);
    }
  }

  get #fields(): Record<string, Growable> {
    return this as unknown as Record<string, Growable>;
  }

  /** Have room for `length` rows. */
  reserve(length: number): void {
    const fields = this.#fields;
    if (length > (fields[this.#names[0] as string] as Growable).length) {
      for (const name of this.#names) {
        fields[name] = roomFor(fields[name] as Growable, length);
      }
    }
  }

  /** Append the rows of `columns` from `from` up to `to`; columns that are not there are 0. */
  add(columns: Readonly<Record<string, ArrayLike<number> | undefined>>, from: number, to: number): void {
    this.reserve(this.n + to - from);
    for (const name of this.#names) {
      const [column, rows] = [this.#fields[name] as Growable, columns[name]];
      if (rows === undefined) {
        column.fill(0, this.n, this.n + to - from);
      } else if (rows.length === to - from) {
        column.set(rows, this.n);
      } else {
        for (let i = from; i < to; i += 1) {
          column[this.n + i - from] = rows[i] as number;
        }
      }
    }
    this.n += to - from;
  }

  /** Forget the first `count` rows. */
  dropFirst(count: number): void {
    for (const name of this.#names) {
      this.#fields[name] = withoutFirst(this.#fields[name] as Growable, count, this.n);
    }
    this.n -= count;
  }

  /** Forget all rows but those at these places, which ascend. */
  keep(places: ArrayLike<number>): void {
    for (const name of this.#names) {
      const column = this.#fields[name] as Growable;
      for (let i = 0; i < places.length; i += 1) {
        column[i] = column[places[i] as number] as number;
      }
    }
    this.n = places.length;
  }

  /** Put the rows from place `from` on in order of a column; equal ones stay as they are. */
  sort(by: Growable, from: number): void {
    const order = Uint32Array.from({ length: this.n - from }, (_, i) => from + i);
    order.sort((a, b) => (by[a] as number) - (by[b] as number) || a - b);
    for (const name of this.#names) {
      const column = this.#fields[name] as Growable;
      const old = column.slice(from, this.n);
      for (let i = 0; i < order.length; i += 1) {
        column[from + i] = old[(order[i] as number) - from] as number;
      }
    }
  }
}

export function columnTable<L extends Layout>(layout: L): new () => ColumnTable & ColumnsOf<L> {
  return class extends ColumnTable {
    constructor() {
      super(layout);
    }
  } as unknown as new () => ColumnTable & ColumnsOf<L>;
}

/** Rows of one table that came in one message. */
interface Arrived {
  /** The recorder's number of the first row. */
  readonly first: number;
  readonly n: number;
  readonly columns: Readonly<Record<string, ArrayLike<number> | undefined>>;
}

/** Rows in order of their time: each is taken once, and the oldest tenth goes where there are too many. */
export abstract class SeriesTable extends ColumnTable {
  /** Grows with every change. */
  version = 0;
  /** Grows when rows that were here before are at other places, or gone. */
  rearranged = 0;
  declare readonly timeS: Float64Array;
  #next = 0;

  constructor(layout: Layout, private readonly maxRows: number) {
    super(layout);
  }

  /** Take the rows that have not come before; returns whether there were any. */
  take({ first, n, columns }: Arrived): boolean {
    const known = knownOf(first, n, this.#next);
    this.#next = Math.max(this.#next, first + n);
    if (known === n) {
      return false;
    }
    const excess = this.n + n - known - this.maxRows;
    if (excess > 0) {
      this.dropOldest(Math.min(Math.max(excess, this.maxRows / 10), this.n));
      this.rearranged += 1;
    }
    const from = this.n;
    this.add(columns, known, n);
    if (!isSorted(this.timeS, Math.max(from - 1, 0), this.n)) {
      const earliestS = this.timeS.subarray(from, this.n).reduce((least, timeS) => Math.min(least, timeS), Infinity);
      this.sort(this.timeS, upperBound(this.timeS, from, earliestS));
      this.rearranged += 1;
    }
    this.version += 1;
    return true;
  }

  /** Forget about the first `count` rows. */
  protected dropOldest(count: number): void {
    this.dropFirst(count);
  }
}

export function seriesTable<L extends Layout>(layout: L & { timeS: typeof Float64Array }, maxRows: number): new () => SeriesTable & ColumnsOf<L> {
  return class extends SeriesTable {
    constructor() {
      super(layout, maxRows);
    }
  } as unknown as new () => SeriesTable & ColumnsOf<L>;
}

/** Whether a column ascends from place `from` up to `to`. */
export function isSorted(column: Growable, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i += 1) {
    if ((column[i] as number) < (column[i - 1] as number)) {
      return false;
    }
  }
  return true;
}
