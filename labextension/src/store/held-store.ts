/** What schedulers held, by time: rows that say what is held of a group from a moment on. */
import { upperBound } from '../lib/search';
import type { HeldColumns } from '../wire';
import { roomFor } from './columns';

/** As many as the recorder keeps; the oldest tenth goes first. */
const MAX_ROWS = 300_000;
const GROUPS = 65_536;

export class HeldStore {
  timeS = new Float64Array(0);
  run = new Int32Array(0);
  group = new Uint16Array(0);
  nKeys = new Uint32Array(0);
  /** Bytes of the keys whose size is known; `nUnsized` are not. */
  nbytes = new Float64Array(0);
  nUnsized = new Uint32Array(0);
  /** In the user's metric of the run; of `nUnvalued` keys it gave nothing. */
  value = new Float64Array(0);
  nUnvalued = new Uint32Array(0);
  /** A number for each group of each compute, so that who goes through the rows needs no map. */
  slot = new Uint32Array(0);
  /** The names of users' metrics, by run. */
  readonly metrics = new Map<number, string>();

  /** Whether rows may be missing, because what was held of some compute is not known. */
  isUnknown = false;

  #n = 0;
  #next = 0;
  #version = 0;
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

  /** Rows held, in order of time. */
  get n(): number {
    return this.#n;
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** Take over new rows; those that are already here are skipped. */
  append(columns: HeldColumns): void {
    const count = columns.timeS.length;
    const skip = Math.min(Math.max(this.#next - columns.first, 0), count);
    this.#next = Math.max(this.#next, columns.first + count);
    this.isUnknown ||= columns.isUnknown;
    columns.metrics.forEach((name, run) => this.metrics.set(run, name));
    if (skip === count) {
      return;
    }
    this.#forgetOldest(count - skip);
    const from = this.#n;
    this.#makeRoom(from + count - skip);
    const put = (into: Float64Array | Int32Array | Uint32Array | Uint16Array, column: ArrayLike<number>): void => {
      for (let i = skip; i < count; i += 1) {
        into[from + i - skip] = column[i] as number;
      }
    };
    put(this.timeS, columns.timeS);
    put(this.run, columns.run);
    put(this.group, columns.group);
    put(this.nKeys, columns.nKeys);
    put(this.nbytes, columns.nbytes);
    put(this.nUnsized, columns.nUnsized);
    put(this.value, columns.value ?? new Float64Array(count));
    put(this.nUnvalued, columns.nUnvalued ?? columns.nKeys);
    this.#n += count - skip;
    this.#number(from);
    this.#settle(from);
    this.#version += 1;
  }

  #makeRoom(length: number): void {
    this.timeS = roomFor(this.timeS, length);
    this.run = roomFor(this.run, length);
    this.group = roomFor(this.group, length);
    this.nKeys = roomFor(this.nKeys, length);
    this.nbytes = roomFor(this.nbytes, length);
    this.nUnsized = roomFor(this.nUnsized, length);
    this.value = roomFor(this.value, length);
    this.nUnvalued = roomFor(this.nUnvalued, length);
    this.slot = roomFor(this.slot, length);
  }

  get #columns(): readonly (Float64Array | Int32Array | Uint32Array | Uint16Array)[] {
    return [this.timeS, this.run, this.group, this.nKeys, this.nbytes, this.nUnsized, this.value, this.nUnvalued, this.slot];
  }

  #number(from: number): void {
    for (let i = from; i < this.#n; i += 1) {
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
    const excess = this.#n + count - MAX_ROWS;
    if (excess <= 0) {
      return;
    }
    const gone = Math.min(Math.max(excess, MAX_ROWS / 10), this.#n);
    const lastOf = new Int32Array(this.nSlots).fill(-1);
    for (let i = 0; i < gone; i += 1) {
      lastOf[this.slot[i] as number] = i;
    }
    const kept: number[] = [];
    for (let i = 0; i < this.#n; i += 1) {
      if (i >= gone || (lastOf[this.slot[i] as number] === i && (this.nKeys[i] as number) > 0)) {
        kept.push(i);
      }
    }
    for (const column of this.#columns) {
      kept.forEach((place, i) => {
        column[i] = column[place] as number;
      });
    }
    this.#n = kept.length;
    this.#slots = new Map();
    this.#number(0);
  }

  /** Rows of one run come in order, those of computes at the same time in turns. */
  #settle(from: number): void {
    let earliestS = Infinity;
    let sorted = true;
    for (let i = from; i < this.#n; i += 1) {
      const timeS = this.timeS[i] as number;
      sorted &&= i === 0 || timeS >= (this.timeS[i - 1] as number);
      earliestS = Math.min(earliestS, timeS);
    }
    if (sorted) {
      return;
    }
    const first = upperBound(this.timeS, from, earliestS);
    const order = Uint32Array.from({ length: this.#n - first }, (_, i) => first + i);
    order.sort((a, b) => (this.timeS[a] as number) - (this.timeS[b] as number) || a - b);
    for (const column of this.#columns) {
      const moved = Array.from(order, place => column[place] as number);
      column.set(moved, first);
    }
  }
}
