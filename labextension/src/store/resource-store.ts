/** Samples of CPU and memory of one recorder, by time. */
import { lowerBound, upperBound } from '../lib/search';
import type { Span } from '../lib/span';
import type { ResourceColumns } from '../wire';
import { columnTable, knownOf } from './columns';

/** As many as the recorder keeps; the oldest tenth goes first. */
const MAX_SAMPLES = 500_000;

const Samples = columnTable({
  timeS: Float64Array,
  /** 100 per core, the mean since the sample before; NaN: unknown. */
  cpuPercent: Float32Array,
  rssBytes: Float64Array,
  nProcesses: Uint16Array,
  /** 1 where samples are missing before this one. */
  gap: Uint8Array
});

export class ResourceStore extends Samples {
  /** Grows with every change. */
  version = 0;
  nCores: number | null = null;
  limitBytes: number | null = null;
  #next = 0;

  /** Take over new samples; those that are already here are skipped. */
  append(columns: ResourceColumns): void {
    this.nCores = columns.nCores ?? this.nCores;
    this.limitBytes = columns.limitBytes ?? this.limitBytes;
    const count = columns.timeS.length;
    const known = knownOf(columns.first, count, this.#next);
    this.#next = Math.max(this.#next, columns.first + count);
    if (known === count) {
      return;
    }
    const excess = this.n + count - known - MAX_SAMPLES;
    if (excess > 0) {
      this.dropFirst(Math.min(Math.max(excess, MAX_SAMPLES / 10), this.n));
    }
    const { timeS, cpuPercent, rssBytes, nProcesses, gap } = columns;
    this.add({ timeS, cpuPercent, rssBytes, nProcesses, gap }, known, count);
    this.version += 1;
  }

  /** The places of the samples within `span`, ends included: from, and up to but not including. */
  within({ startS, stopS }: Span): [from: number, to: number] {
    return [lowerBound(this.timeS, this.n, startS), upperBound(this.timeS, this.n, stopS)];
  }
}
