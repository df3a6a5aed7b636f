/**
 * Sums over 8 and over 64 tasks at a time, for views in which many tasks share a pixel column.
 *
 * A block counts in one step and still exactly, because its tasks finished one after another in one compute. Where they
 * did not, or are of too many prefixes to save anything, only the parts of a block tell.
 */
import { roomFor } from '../columns';

/** A block of level k has 2 ** LEVEL_BITS[k] tasks. */
export const LEVEL_BITS = [3, 6] as const;
/** Prefixes that a block of a level may have. */
const MAX_ENTRIES = [6, 32] as const;
/** Seconds of a task that took no time, so that it is seen where nothing else is; no sum changes by it. */
export const TRACE_S = 1e-15;

export interface BlockSource {
  readonly n: number;
  readonly startS: Float64Array;
  readonly stopS: Float64Array;
  readonly prefix: Uint16Array;
  readonly run: Int32Array;
}

/** Blocks of one size. */
export class BlockLevel {
  n = 0;
  /** When the first task began. */
  startS = new Float64Array(0);
  /** When the last one ended; infinite where only the parts of the block tell. */
  stopS = new Float64Array(0);
  run = new Int32Array(0);
  /** Block `b` has the entries from `entry[b]` up to `entry[b + 1]`, one for each prefix. */
  entry = new Uint32Array(1);
  prefix = new Uint16Array(0);
  seconds = new Float32Array(0);
  #end = 0;

  constructor(private readonly maxEntries: number) {}

  /** Forget block `n` and all after it. */
  cut(n: number): void {
    this.n = Math.min(n, this.n);
    this.#end = this.entry[this.n] as number;
  }

  /** Add to the block that `close` will end; false once it has too many prefixes. */
  add(prefix: number, seconds: number): boolean {
    const first = this.entry[this.n] as number;
    let at = first;
    while (at < this.#end && this.prefix[at] !== prefix) {
      at += 1;
    }
    if (at === this.#end) {
      if (at - first === this.maxEntries) {
        return false;
      }
      this.prefix = roomFor(this.prefix, at + 1);
      this.seconds = roomFor(this.seconds, at + 1);
      this.prefix[at] = prefix;
      this.seconds[at] = 0;
      this.#end += 1;
    }
    this.seconds[at] = (this.seconds[at] as number) + seconds;
    return true;
  }

  /** End a block; `stopS` null: only its parts tell. */
  close(startS: number, stopS: number | null, run: number): void {
    const b = this.n;
    this.startS = roomFor(this.startS, b + 1);
    this.stopS = roomFor(this.stopS, b + 1);
    this.run = roomFor(this.run, b + 1);
    this.entry = roomFor(this.entry, b + 2);
    if (stopS === null) {
      this.#end = this.entry[b] as number;
    }
    this.startS[b] = startS;
    this.stopS[b] = stopS ?? Infinity;
    this.run[b] = run;
    this.entry[b + 1] = this.#end;
    this.n = b + 1;
  }
}

export class TaskBlocks {
  readonly fine = new BlockLevel(MAX_ENTRIES[0]);
  readonly coarse = new BlockLevel(MAX_ENTRIES[1]);

  /** Make the blocks of all tasks from place `from` on; a last one that is not full is left out. */
  update(tasks: BlockSource, from: number): void {
    const { fine, coarse } = this;
    const [fineBits, coarseBits] = LEVEL_BITS;
    fine.cut(from >> fineBits);
    for (let b = fine.n; b < tasks.n >> fineBits; b += 1) {
      const first = b << fineBits;
      fine.close(tasks.startS[first] as number, addTasks(fine, tasks, first, first + 2 ** fineBits), tasks.run[first] as number);
    }
    coarse.cut(from >> coarseBits);
    for (let b = coarse.n; b < tasks.n >> coarseBits; b += 1) {
      const first = b << (coarseBits - fineBits);
      const last = first + 2 ** (coarseBits - fineBits);
      coarse.close(fine.startS[first] as number, addBlocks(coarse, fine, first, last), fine.run[first] as number);
    }
  }
}

/** Sum up tasks; returns when the last one ended, or null if they are no block. */
function addTasks(level: BlockLevel, { startS, stopS, prefix, run }: BlockSource, first: number, last: number): number | null {
  let reach = -Infinity;
  for (let i = first; i < last; i += 1) {
    const [start, stop] = [startS[i] as number, stopS[i] as number];
    const follows = start >= reach && stop >= start && run[i] === run[first];
    if (!follows || !level.add(prefix[i] as number, Math.max(stop - start, TRACE_S))) {
      return null;
    }
    reach = stop;
  }
  return reach;
}

/** The same of smaller blocks. */
function addBlocks(level: BlockLevel, parts: BlockLevel, first: number, last: number): number | null {
  let reach = -Infinity;
  for (let b = first; b < last; b += 1) {
    const follows = (parts.startS[b] as number) >= reach && parts.run[b] === parts.run[first];
    reach = parts.stopS[b] as number;
    if (!follows || reach === Infinity || !addEntries(level, parts, b)) {
      return null;
    }
  }
  return reach;
}

function addEntries(level: BlockLevel, parts: BlockLevel, b: number): boolean {
  for (let k = parts.entry[b] as number; k < (parts.entry[b + 1] as number); k += 1) {
    if (!level.add(parts.prefix[k] as number, parts.seconds[k] as number)) {
      return false;
    }
  }
  return true;
}
