/** What is recorded over time: CPU and memory of the process, and the results that schedulers keep in memory. */
import { lowerBound, upperBound } from '../lib/search';
import type { Span } from '../lib/span';
import { seriesTable } from './columns';

const GROUPS = 65_536;

/** Samples of CPU and memory; as many as the recorder keeps. */
const Samples = seriesTable({
  timeS: Float64Array,
  /** 100 per core, the mean since the sample before; NaN: unknown. */
  cpuPercent: Float32Array,
  rssBytes: Float64Array,
  /** The most since the sample before, by the kernel's own mark; NaN: unknown. */
  peakBytes: Float64Array,
  nProcesses: Uint32Array,
  /** 1 where samples are missing before this one. */
  gap: Uint8Array
}, 500_000);

export class ResourceStore extends Samples {
  nCores: number | null = null;
  limitBytes: number | null = null;

  /** The most memory up to a sample, since the one before where the kernel saw that. */
  mostBytes(i: number): number {
    const [rss, peak] = [this.rssBytes[i] as number, this.peakBytes[i] as number];
    return peak > rss ? peak : rss;
  }

  /** The places of the samples within `span`, ends included: from, and up to but not including. */
  within({ startS, stopS }: Span): [from: number, to: number] {
    return [lowerBound(this.timeS, this.n, startS), upperBound(this.timeS, this.n, stopS)];
  }
}

/** What is counted: keys, bytes, or what the user's metric gave. */
export type Measure = 'count' | 'bytes' | 'metric';

/** How much of each group is in memory from a moment on; as many rows as the recorder keeps. */
const HeldRows = seriesTable({
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
  /** A number for each group of each compute, so that a walk through the rows needs no map. */
  slot: Uint32Array
}, 300_000);

export class HeldStore extends HeldRows {
  /** Whether rows may be missing, because what was held of some compute is not known. */
  isUnknown = false;
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

  override add(...rows: Parameters<InstanceType<typeof HeldRows>['add']>): void {
    const from = this.n;
    super.add(...rows);
    for (let i = from; i < this.n; i += 1) {
      if (Number.isNaN(this.value[i])) {
        this.value[i] = 0;
        this.nUnvalued[i] = this.nKeys[i] as number;
      }
    }
    this.#number(from);
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

  /** Of the oldest rows, those that still hold after them stay. */
  protected override dropOldest(count: number): void {
    const lastOf = new Int32Array(this.nSlots).fill(-1);
    for (let i = 0; i < count; i += 1) {
      lastOf[this.slot[i] as number] = i;
    }
    const kept: number[] = [];
    for (let i = 0; i < this.n; i += 1) {
      if (i >= count || (lastOf[this.slot[i] as number] === i && (this.nKeys[i] as number) > 0)) {
        kept.push(i);
      }
    }
    this.keep(kept);
    this.#slots = new Map();
    this.#number(0);
  }
}
