/** The ended tasks of one lane, as columns sorted by start. */
import { lowerBound, upperBound } from '../lib/search';
import type { Span } from '../lib/span';
import { TaskBlocks } from './blocks';
import { roomFor, withoutFirst } from './columns';

/** Only tasks of these computes count; null: of all. */
export type RunRange = readonly [first: number, last: number] | null;

/** Bits of `flags`. */
export const STATUS_BITS = 3;
export const SCHEDULER_BIT = 4;

export class LaneTasks {
  n = 0;
  /** Grows whenever tasks came or went. */
  version = 0;
  startS = new Float64Array(0);
  stopS = new Float64Array(0);
  /** The latest stop of this task and all before it: nested tasks outlive later ones. */
  reachS = new Float64Array(0);
  group = new Uint16Array(0);
  prefix = new Uint16Array(0);
  flags = new Uint8Array(0);
  run = new Int32Array(0);
  /** Row of the store. */
  row = new Uint32Array(0);

  readonly blocks = new TaskBlocks();
  /** The places of tasks that did not finish, in ascending order. */
  #failed: number[] = [];

  #sortedN = 0;
  #earliestNewS = Infinity;

  /** Append without sorting; `settle` must follow before anything is read. */
  push(startS: number, stopS: number, group: number, prefix: number, flags: number, run: number, row: number): void {
    const i = this.n;
    if (i >= this.startS.length) {
      this.#grow(i + 1);
    }
    this.startS[i] = startS;
    this.stopS[i] = stopS;
    this.group[i] = group;
    this.prefix[i] = prefix;
    this.flags[i] = flags;
    this.run[i] = run;
    this.row[i] = row;
    if (startS < this.#earliestNewS) {
      this.#earliestNewS = startS;
    }
    this.n = i + 1;
  }

  /** Bring what was pushed since the last call into order; cheap if it nearly was. */
  settle(): void {
    if (this.#sortedN === this.n) {
      return;
    }
    const from = upperBound(this.startS, this.#sortedN, this.#earliestNewS);
    if (!isSorted(this.startS, Math.max(from, 0), this.n)) {
      this.#sortFrom(from);
    }
    this.#summarize(from);
    this.#sortedN = this.n;
    this.#earliestNewS = Infinity;
    this.version += 1;
  }

  /** Forget the tasks of rows before `row`. */
  drop(row: number): void {
    const { n } = this;
    let count = 0;
    while (count < n && (this.row[count] as number) < row) {
      count += 1;
    }
    const kept = this.#keep(row, count);
    this.startS = withoutFirst(this.startS, count, count + kept);
    this.stopS = withoutFirst(this.stopS, count, count + kept);
    this.reachS = withoutFirst(this.reachS, count, count + kept);
    this.group = withoutFirst(this.group, count, count + kept);
    this.prefix = withoutFirst(this.prefix, count, count + kept);
    this.flags = withoutFirst(this.flags, count, count + kept);
    this.run = withoutFirst(this.run, count, count + kept);
    this.row = withoutFirst(this.row, count, count + kept);
    this.n = this.#sortedN = kept;
    this.version += 1;
    this.#summarize(0);
  }

  /** Move the tasks of row `row` and later together, from place `first` on; returns how many there are. */
  #keep(row: number, first: number): number {
    const places = new Uint32Array(this.n - first);
    let kept = 0;
    for (let i = first; i < this.n; i += 1) {
      if ((this.row[i] as number) >= row) {
        places[kept] = i;
        kept += 1;
      }
    }
    // Fewer only where a task that began early but ended late stands before some that go.
    for (const column of kept < places.length ? this.#columns : []) {
      for (let i = 0; i < kept; i += 1) {
        column[first + i] = column[places[i] as number] as number;
      }
    }
    return kept;
  }

  get #columns(): (Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array)[] {
    return [this.startS, this.stopS, this.group, this.prefix, this.flags, this.run, this.row];
  }

  #summarize(from: number): void {
    while ((this.#failed.at(-1) ?? -1) >= from) {
      this.#failed.pop();
    }
    let reach = from > 0 ? (this.reachS[from - 1] as number) : -Infinity;
    for (let i = from; i < this.n; i += 1) {
      reach = Math.max(reach, this.stopS[i] as number);
      this.reachS[i] = reach;
      if (((this.flags[i] as number) & STATUS_BITS) !== 0) {
        this.#failed.push(i);
      }
    }
    this.blocks.update(this, from);
  }

  /** The first task that may reach past `timeS`; all before it have ended by then. */
  firstReaching(timeS: number): number {
    return upperBound(this.reachS, this.n, timeS);
  }

  /** The first task that starts at `timeS` or later. */
  firstStarting(timeS: number): number {
    return lowerBound(this.startS, this.n, timeS);
  }

  /** The places of tasks in a span that did not finish. */
  failedIn(span: Span): readonly number[] {
    if (this.#failed.length === 0) {
      return this.#failed;
    }
    const [first, last] = [this.firstReaching(span.startS), this.firstStarting(span.stopS)];
    return this.#failed.filter(i => i >= first && i < last);
  }

  /** Whether a task of these computes touches `span`. */
  hasAny(span: Span, runs: RunRange): boolean {
    for (let i = this.firstReaching(span.startS); i < this.n && (this.startS[i] as number) <= span.stopS; i += 1) {
      const run = this.run[i] as number;
      if (runs === null || (run >= runs[0] && run <= runs[1])) {
        return true;
      }
    }
    return false;
  }

  /** The first task that starts later than `timeS`. */
  firstStartingAfter(timeS: number): number {
    return upperBound(this.startS, this.n, timeS);
  }

  /** The place of a row whose start is known; null if it is not here. */
  find(startS: number, row: number): number | null {
    for (let i = this.firstStarting(startS); i < this.n && this.startS[i] === startS; i += 1) {
      if (this.row[i] === row) {
        return i;
      }
    }
    return null;
  }

  #grow(length: number): void {
    this.startS = roomFor(this.startS, length);
    this.stopS = roomFor(this.stopS, length);
    this.reachS = roomFor(this.reachS, length);
    this.group = roomFor(this.group, length);
    this.prefix = roomFor(this.prefix, length);
    this.flags = roomFor(this.flags, length);
    this.run = roomFor(this.run, length);
    this.row = roomFor(this.row, length);
  }

  #sortFrom(from: number): void {
    const startS = this.startS.slice(from, this.n);
    const order = Uint32Array.from(startS, (_, i) => i);
    // Equal starts keep the order they came in, so that a picture does not flicker.
    order.sort((a, b) => (startS[a] as number) - (startS[b] as number) || a - b);
    for (const column of this.#columns) {
      const old = column.slice(from, this.n);
      for (let i = 0; i < order.length; i += 1) {
        column[from + i] = old[order[i] as number] as number;
      }
    }
  }
}

function isSorted(column: Float64Array, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i += 1) {
    if ((column[i] as number) < (column[i - 1] as number)) {
      return false;
    }
  }
  return true;
}
