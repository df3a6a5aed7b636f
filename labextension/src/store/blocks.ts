/**
 * Sums over eight tasks at a time, for views in which many tasks share a pixel column.
 *
 * A plain block, in which tasks finished one after another, counts in one step and still exactly.
 */
import { roomFor } from './columns';

/** A block has 2 ** BLOCK_BITS tasks. */
export const BLOCK_BITS = 3;
export const BLOCK = 2 ** BLOCK_BITS;
/** Prefixes of a block that have a sum of their own. */
export const SLOTS = 3;

export const BLOCK_KIND = {
  /** Only its tasks tell. */
  none: 0,
  /** Tasks that finished one after another, in one compute, of `SLOTS` prefixes at most. */
  plain: 1,
  /** The same with more prefixes; the last slot has the sum of the rest. */
  mixed: 2
} as const;

/** What blocks are made of. */
export interface BlockSource {
  readonly n: number;
  readonly startS: Float64Array;
  readonly stopS: Float64Array;
  readonly prefix: Uint16Array;
  readonly flags: Uint8Array;
  readonly run: Int32Array;
}

export class TaskBlocks {
  kind = new Uint8Array(0);
  /** When the first task began and the last one ended; only of blocks that have sums. */
  startS = new Float64Array(0);
  stopS = new Float64Array(0);
  /** `SLOTS` entries for each block; unused ones have no seconds. */
  prefix = new Uint16Array(0);
  seconds = new Float32Array(0);

  /** Make the blocks of all tasks from place `from` on; a last one that is not full has none. */
  update(tasks: BlockSource, from: number): void {
    const n = tasks.n >> BLOCK_BITS;
    this.kind = roomFor(this.kind, n);
    this.startS = roomFor(this.startS, n);
    this.stopS = roomFor(this.stopS, n);
    this.prefix = roomFor(this.prefix, n * SLOTS);
    this.seconds = roomFor(this.seconds, n * SLOTS);
    for (let block = from >> BLOCK_BITS; block < n; block += 1) {
      this.kind[block] = this.#fill(tasks, block);
    }
  }

  #fill({ startS, stopS, prefix, flags, run }: BlockSource, block: number): number {
    const first = block << BLOCK_BITS;
    const slot = block * SLOTS;
    let used = 0;
    let kind: number = BLOCK_KIND.plain;
    let reach = -Infinity;
    this.seconds.fill(0, slot, slot + SLOTS);
    for (let i = first; i < first + BLOCK; i += 1) {
      const start = startS[i] as number;
      const stop = stopS[i] as number;
      // What failed, took no time or overlaps is told apart by the task.
      if (start < reach || stop <= start || ((flags[i] as number) & 3) !== 0 || run[i] !== run[first]) {
        return BLOCK_KIND.none;
      }
      reach = stop;
      let at = 0;
      while (at < used && this.prefix[slot + at] !== prefix[i]) {
        at += 1;
      }
      if (at === SLOTS) {
        kind = BLOCK_KIND.mixed;
        at -= 1;
      } else if (at === used) {
        used += 1;
        this.prefix[slot + at] = prefix[i] as number;
      }
      this.seconds[slot + at] = (this.seconds[slot + at] as number) + stop - start;
    }
    this.startS[block] = startS[first] as number;
    this.stopS[block] = reach;
    return kind;
  }
}
