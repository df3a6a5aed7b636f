/** The ended tasks of one lane, as columns sorted by start. */
import { lowerBound, upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import { TaskBlocks } from './blocks';
import { columnTable, isSorted } from '../columns';

/** Only tasks of these computes count; null: of all. */
export type RunLimits = readonly [first: number, last: number] | null;

/** Bits of `flags`. */
export const STATUS_BITS = 7;
export const SCHEDULER_BIT = 8;

const LaneTable = columnTable({
  startS: Float64Array,
  stopS: Float64Array,
  /** The latest stop of this task and all before it: nested tasks outlive later ones. */
  reachS: Float64Array,
  group: Uint16Array,
  prefix: Uint16Array,
  flags: Uint8Array,
  run: Int32Array,
  /** Row of the store. */
  row: Uint32Array
});

export class LaneTasks extends LaneTable {
  /** Grows whenever tasks came or went. */
  version = 0;
  readonly blocks = new TaskBlocks();
  /** The places of tasks that did not finish, in ascending order. */
  #failed: number[] = [];

  #sortedN = 0;
  #earliestNewS = Infinity;

  copy({ startS, stopS, group, prefix, flags, run, row }: LaneTasks, i: number): void {
    this.push(startS[i] as number, stopS[i] as number, group[i] as number, prefix[i] as number, flags[i] as number, run[i] as number, row[i] as number);
  }

  /** Append without sorting; `settle` must follow before anything is read. */
  push(startS: number, stopS: number, group: number, prefix: number, flags: number, run: number, row: number): void {
    const i = this.n;
    if (i >= this.startS.length) {
      this.reserve(i + 1);
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
      this.sort(this.startS, from);
    }
    this.#summarize(from);
    this.#sortedN = this.n;
    this.#earliestNewS = Infinity;
    this.version += 1;
  }

  /** Forget the tasks of rows before `row`. */
  drop(row: number): void {
    const places = new Uint32Array(this.n);
    let kept = 0;
    for (let i = 0; i < this.n; i += 1) {
      if ((this.row[i] as number) >= row) {
        places[kept] = i;
        kept += 1;
      }
    }
    if (kept > 0 && places[0] === this.n - kept) {
      this.dropFirst(this.n - kept);
    } else {
      // A task that began early but ended late stands before some that go.
      this.keep(places.subarray(0, kept));
      this.dropFirst(0);
    }
    this.#sortedN = kept;
    this.version += 1;
    this.#summarize(0);
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
  hasAny(span: Span, runs: RunLimits): boolean {
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
}
