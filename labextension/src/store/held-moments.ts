/** The moments at which what was held of some computes changed, kept while rows come, so that a picture needs no walk through all of them. */
import { columnTable, roomFor } from './columns';
import type { HeldStore, Measure } from './series';
import type { RunRange } from './tables';
import { inRunRange } from './tables';

/** The moment of the most is known of so many at a time. */
const BLOCK = 64;
/** Less of a group of which nothing is held is a rounding error. */
const NOTHING = 1e-9;

const MomentTable = columnTable({
  timeS: Float64Array,
  total: Float64Array,
  /** Keys of which the measure is not known; they are not in the total. */
  unknown: Float64Array,
  nKeys: Float64Array,
  /** The row behind its last one. */
  end: Uint32Array
});

/** In order of time. */
export class HeldMoments extends MomentTable {
  /** By row of the store: by how much it changed what is held of its group; 0 for those of other computes. */
  change = new Float64Array(0);
  /** Rows that were read. */
  nRows = 0;
  /** Grows when moments are other ones than before, and not only more. */
  restarts = 0;
  #rearranged = -1;
  #amountOf = new Float64Array(0);
  #unknownOf = new Float64Array(0);
  #nKeysOf = new Float64Array(0);
  #byGroup = new Float64Array(0);
  #total = 0;
  #unknown = 0;
  #nKeys = 0;
  /** The moment of the most of each block; the latest, where several have it. */
  #most = new Uint32Array(0);
  /** The first moment of the most among all but the last, which may still change. */
  #peak = 0;
  #nClosed = 0;
  /** What was held of each group after the rows before `#groupsRow`. */
  #groups = new Float64Array(0);
  #groupsRow = 0;

  private readonly runRange: RunRange;

  constructor(private readonly held: HeldStore, { firstRun, lastRun }: RunRange, readonly measure: Measure) {
    super();
    this.runRange = { firstRun, lastRun };
    this.update();
  }

  isOf(held: HeldStore, { firstRun, lastRun }: RunRange, measure: Measure): boolean {
    return this.held === held && this.runRange.firstRun === firstRun && this.runRange.lastRun === lastRun && this.measure === measure;
  }

  /** Read the rows that have come; all of them only if they are in another order, or the oldest are gone. */
  update(): void {
    const { held, runRange } = this;
    if (held.rearranged !== this.#rearranged) {
      this.#restart();
    }
    const { timeS: times, run, group: groups, nKeys, slot: slots } = held;
    const [amounts, unknowns] = columnsOf(held, this.measure);
    this.change = roomFor(this.change, held.n);
    this.#amountOf = roomFor(this.#amountOf, held.nSlots);
    this.#unknownOf = roomFor(this.#unknownOf, held.nSlots);
    this.#nKeysOf = roomFor(this.#nKeysOf, held.nSlots);
    this.#byGroup = roomFor(this.#byGroup, held.nGroups);
    const block = Math.floor(Math.max(this.n - 1, 0) / BLOCK);
    for (let i = this.nRows; i < held.n; i += 1) {
      this.change[i] = 0;
      if (!inRunRange(run[i] as number, runRange)) {
        continue;
      }
      const [slot, group, amount, unknown, keys] = [slots[i] as number, groups[i] as number, amounts[i] as number, unknowns?.[i] ?? 0, nKeys[i] as number];
      const more = amount - (this.#amountOf[slot] as number);
      const before = this.#byGroup[group] as number;
      const after = keys === 0 && before + more < NOTHING ? 0 : before + more;
      this.#byGroup[group] = after;
      this.change[i] = after - before;
      this.#unknown += unknown - (this.#unknownOf[slot] as number);
      this.#nKeys += keys - (this.#nKeysOf[slot] as number);
      this.#total = this.#nKeys === 0 ? 0 : this.#total + more;
      this.#amountOf[slot] = amount;
      this.#unknownOf[slot] = unknown;
      this.#nKeysOf[slot] = keys;
      this.#put(times[i] as number, i + 1);
    }
    this.nRows = held.n;
    this.#findMost(block);
  }

  #restart(): void {
    this.#rearranged = this.held.rearranged;
    this.restarts += 1;
    this.n = this.nRows = this.#nClosed = this.#peak = this.#groupsRow = 0;
    this.#total = this.#unknown = this.#nKeys = 0;
    for (const sums of [this.#amountOf, this.#unknownOf, this.#nKeysOf, this.#byGroup, this.#groups]) {
      sums.fill(0);
    }
  }

  #put(timeS: number, end: number): void {
    if (this.n === 0 || this.timeS[this.n - 1] !== timeS) {
      this.reserve(this.n + 1);
      this.n += 1;
    }
    const m = this.n - 1;
    this.timeS[m] = timeS;
    this.total[m] = this.#total;
    this.unknown[m] = this.#unknown;
    this.nKeys[m] = this.#nKeys;
    this.end[m] = end;
  }

  #findMost(fromBlock: number): void {
    const nBlocks = Math.ceil(this.n / BLOCK);
    this.#most = roomFor(this.#most, nBlocks);
    for (let block = fromBlock; block < nBlocks; block += 1) {
      this.#most[block] = this.#scan(block * BLOCK, Math.min((block + 1) * BLOCK, this.n));
    }
    for (; this.#nClosed < this.n - 1; this.#nClosed += 1) {
      if ((this.total[this.#nClosed] as number) > (this.total[this.#peak] as number)) {
        this.#peak = this.#nClosed;
      }
    }
  }

  #scan(from: number, to: number): number {
    let most = from;
    for (let m = from + 1; m < to; m += 1) {
      if ((this.total[m] as number) >= (this.total[most] as number)) {
        most = m;
      }
    }
    return most;
  }

  /** The moment of the most from `from` up to `to`, of which there is one at least; the latest, where several have it. */
  mostIn(from: number, to: number): number {
    const first = Math.ceil(from / BLOCK);
    const last = Math.floor(to / BLOCK);
    if (first >= last) {
      return this.#scan(from, to);
    }
    let most = first * BLOCK > from ? this.#scan(from, first * BLOCK) : (this.#most[first] as number);
    for (let block = first; block < last; block += 1) {
      most = this.#more(most, this.#most[block] as number);
    }
    return last * BLOCK < to ? this.#more(most, this.#scan(last * BLOCK, to)) : most;
  }

  #more(most: number, later: number): number {
    return (this.total[later] as number) >= (this.total[most] as number) ? later : most;
  }

  /** The first moment of the most; of no moments it is 0. */
  get peak(): number {
    const last = Math.max(this.n - 1, 0);
    return (this.total[last] as number) > (this.total[this.#peak] as number) ? last : this.#peak;
  }

  /** What was held of each group at a moment; valid until it is asked again. */
  groupsAt(moment: number): Float64Array {
    const end = this.end[moment] ?? 0;
    this.#groups = roomFor(this.#groups, this.held.nGroups);
    if (end < this.#groupsRow) {
      this.#groups.fill(0);
      this.#groupsRow = 0;
    }
    for (; this.#groupsRow < end; this.#groupsRow += 1) {
      const group = this.held.group[this.#groupsRow] as number;
      this.#groups[group] = (this.#groups[group] as number) + (this.change[this.#groupsRow] as number);
    }
    return this.#groups.subarray(0, this.held.nGroups);
  }
}

/** The moments that were asked for last: of the same they are read on, of others they are made anew. */
export class LatestMoments {
  #moments: HeldMoments | null = null;

  of(held: HeldStore, runRange: RunRange, measure: Measure): HeldMoments {
    if (this.#moments?.isOf(held, runRange, measure) === true) {
      this.#moments.update();
    } else {
      this.#moments = new HeldMoments(held, runRange, measure);
    }
    return this.#moments;
  }
}

/** The measure of each row, and of how many keys it is not known. */
function columnsOf(held: HeldStore, measure: Measure): [amounts: Float64Array | Uint32Array, unknowns: Uint32Array | null] {
  switch (measure) {
    case 'count':
      return [held.nKeys, null];
    case 'bytes':
      return [held.nbytes, held.nUnsized];
    case 'metric':
      return [held.value, held.nUnvalued];
  }
}
