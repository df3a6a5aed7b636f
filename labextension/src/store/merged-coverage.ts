/** How busy several lanes are together: the mean of their exact coverages, and what took most of their time. */
import type { AmountSink, CoverageColumns } from './coverage';
import { LaneCoverage, MARK, NO_PREFIX } from './coverage';

/** What a column of several lanes can say of one of them. */
const SHARED_MARKS = MARK.erred | MARK.interrupted | MARK.lost | MARK.any;

export class MergedCoverage implements CoverageColumns {
  cover = new Float32Array(0);
  prefix = new Uint16Array(0);
  focus = new Float32Array(0);
  bad = new Float32Array(0);
  marks = new Uint8Array(0);

  readonly #amounts = new Amounts();
  readonly #lane = new LaneCoverage(this.#amounts);

  /** Add up `nLanes` lanes; `measure` fills the coverage of the `i`-th one. */
  measure(nLanes: number, columns: number, measure: (coverage: LaneCoverage, i: number) => void): void {
    this.#reset(columns);
    for (let i = 0; i < nLanes; i += 1) {
      measure(this.#lane, i);
      this.#addLane(1 / nLanes);
    }
    this.#amounts.strongest(this.prefix);
  }

  #reset(columns: number): void {
    this.#amounts.reset(columns);
    this.cover = sized(this.cover, columns, n => new Float32Array(n)).fill(0);
    this.focus = sized(this.focus, columns, n => new Float32Array(n)).fill(0);
    this.bad = sized(this.bad, columns, n => new Float32Array(n)).fill(0);
    this.marks = sized(this.marks, columns, n => new Uint8Array(n)).fill(0);
    this.prefix = sized(this.prefix, columns, n => new Uint16Array(n));
  }

  #addLane(share: number): void {
    const { cover, focus, bad, marks } = this.#lane;
    for (let c = 0; c < this.cover.length; c += 1) {
      this.cover[c] = (this.cover[c] as number) + (cover[c] as number) * share;
      this.focus[c] = (this.focus[c] as number) + (focus[c] as number) * share;
      this.bad[c] = (this.bad[c] as number) + (bad[c] as number) * share;
      this.marks[c] = (this.marks[c] as number) | ((marks[c] as number) & SHARED_MARKS);
    }
  }
}

/** Sums for each prefix and column; only rows of prefixes that occur are ever touched. */
class Amounts implements AmountSink {
  #columns = 0;
  readonly #rows: Float32Array[] = [];
  readonly #isUsed: boolean[] = [];
  readonly #used: number[] = [];

  reset(columns: number): void {
    for (const prefix of this.#used) {
      this.#isUsed[prefix] = false;
    }
    this.#used.length = 0;
    this.#columns = columns;
  }

  add(column: number, prefix: number, amount: number): void {
    const row = this.#isUsed[prefix] === true ? (this.#rows[prefix] as Float32Array) : this.#use(prefix);
    row[column] = (row[column] as number) + amount;
  }

  /** Write down which prefix has most of each column. */
  strongest(prefix: Uint16Array): void {
    const most = new Float32Array(this.#columns);
    prefix.fill(NO_PREFIX);
    for (const id of this.#used) {
      const row = this.#rows[id] as Float32Array;
      for (let c = 0; c < row.length; c += 1) {
        if ((row[c] as number) > (most[c] as number)) {
          most[c] = row[c] as number;
          prefix[c] = id;
        }
      }
    }
  }

  #use(prefix: number): Float32Array {
    const known = this.#rows[prefix];
    const row = known?.length === this.#columns ? known.fill(0) : new Float32Array(this.#columns);
    this.#rows[prefix] = row;
    this.#isUsed[prefix] = true;
    this.#used.push(prefix);
    return row;
  }
}

function sized<T extends { readonly length: number }>(array: T, length: number, make: (n: number) => T): T {
  return array.length === length ? array : make(length);
}
