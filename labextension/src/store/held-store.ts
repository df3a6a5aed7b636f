/** What schedulers held, by time: rows that say what is held of a group from a moment on. */
import { upperBound } from '../lib/search';
import type { HeldColumns } from '../wire';
import { columnTable, isSorted, knownOf } from './columns';

/** As many as the recorder keeps; the oldest tenth goes first. */
const MAX_ROWS = 300_000;
const GROUPS = 65_536;

const HeldTable = columnTable({
  timeS: Float64Array,
  run: Int32Array,
  group: Uint16Array,
  nKeys: Uint32Array,
  /** Bytes of the keys whose size is known; `nUnsized` are not. */
  nbytes: Float64Array,
  nUnsized: Uint32Array,
  /** In the user's metric of the run; of `nUnvalued` keys it gave nothing. */
  value: Float64Array,
  nUnvalued: Uint32Array,
  /** A number for each group of each compute, so that who goes through the rows needs no map. */
  slot: Uint32Array
});

/** Rows in order of time. */
export class HeldStore extends HeldTable {
  /** Grows with every change. */
  version = 0;
  /** Grows when rows that were here before are at other places, or gone. */
  rearranged = 0;
  /** The names of users' metrics, by run. */
  readonly metrics = new Map<number, string>();
  /** Whether rows may be missing, because what was held of some compute is not known. */
  isUnknown = false;
  #next = 0;
  #slots = new Map<number, number>();
  #nGroups = 0;

  /** Slots are below this. */
  get nSlots(): number {
    return this.#slots.size;
  }

  /** Groups are below this. */
  get nGroups(): number {
    return this.#nGroups;
  }

  /** Take over new rows; those that are already here are skipped. */
  append(columns: HeldColumns): void {
    const count = columns.timeS.length;
    const known = knownOf(columns.first, count, this.#next);
    this.#next = Math.max(this.#next, columns.first + count);
    this.isUnknown ||= columns.isUnknown;
    columns.metrics.forEach((name, run) => this.metrics.set(run, name));
    if (known === count) {
      return;
    }
    this.#forgetOldest(count - known);
    const from = this.n;
    const { timeS, run, group, nKeys, nbytes, nUnsized, value, nUnvalued } = columns;
    this.add({ timeS, run, group, nKeys, nbytes, nUnsized, value: value ?? undefined, nUnvalued: nUnvalued ?? nKeys }, known, count);
    this.#number(from);
    // Rows of one run come in order, those of computes at the same time in turns.
    if (!isSorted(this.timeS, Math.max(from - 1, 0), this.n)) {
      const earliestS = this.timeS.subarray(from, this.n).reduce((least, timeS) => Math.min(least, timeS), Infinity);
      this.sort(this.timeS, upperBound(this.timeS, from, earliestS));
      this.rearranged += 1;
    }
    this.version += 1;
  }

  #number(from: number): void {
    for (let i = from; i < this.n; i += 1) {
      const group = this.group[i] as number;
      this.#nGroups = Math.max(this.#nGroups, group + 1);
      const place = (this.run[i] as number) * GROUPS + group;
      let slot = this.#slots.get(place);
      if (slot === undefined) {
        slot = this.#slots.size;
        this.#slots.set(place, slot);
      }
      this.slot[i] = slot;
    }
  }

  /** Make room for `count` rows. What the oldest say that still holds after them stays. */
  #forgetOldest(count: number): void {
    const excess = this.n + count - MAX_ROWS;
    if (excess <= 0) {
      return;
    }
    const gone = Math.min(Math.max(excess, MAX_ROWS / 10), this.n);
    const lastOf = new Int32Array(this.nSlots).fill(-1);
    for (let i = 0; i < gone; i += 1) {
      lastOf[this.slot[i] as number] = i;
    }
    const kept: number[] = [];
    for (let i = 0; i < this.n; i += 1) {
      if (i >= gone || (lastOf[this.slot[i] as number] === i && (this.nKeys[i] as number) > 0)) {
        kept.push(i);
      }
    }
    this.keep(kept);
    this.rearranged += 1;
    this.#slots = new Map();
    this.#number(0);
  }
}

/** What is counted: keys, bytes, or what the user's metric gave. */
export type Measure = 'count' | 'bytes' | 'metric';
