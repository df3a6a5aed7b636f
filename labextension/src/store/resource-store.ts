/** Samples of CPU and memory of one recorder, by time. */
import { lowerBound, upperBound } from '../lib/search';
import type { Span } from '../lib/span';
import type { ResourceColumns } from '../wire';
import { roomFor } from './columns';

/** As many as the recorder keeps; the oldest tenth goes first. */
const MAX_SAMPLES = 500_000;

export class ResourceStore {
  timeS = new Float64Array(0);
  /** 100 per core, the mean since the sample before; NaN: unknown. */
  cpuPercent = new Float32Array(0);
  rssBytes = new Float64Array(0);
  nProcesses = new Uint16Array(0);
  /** 1 where samples are missing before this one. */
  gap = new Uint8Array(0);
  nCores: number | null = null;
  limitBytes: number | null = null;

  #n = 0;
  #next = 0;
  #version = 0;

  /** Samples held. */
  get n(): number {
    return this.#n;
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** Take over new samples; those that are already here are skipped. */
  append(columns: ResourceColumns): void {
    this.nCores = columns.nCores ?? this.nCores;
    this.limitBytes = columns.limitBytes ?? this.limitBytes;
    const count = columns.timeS.length;
    const skip = Math.min(Math.max(this.#next - columns.first, 0), count);
    this.#next = Math.max(this.#next, columns.first + count);
    if (skip === count) {
      return;
    }
    this.#makeRoom(count - skip);
    this.timeS.set(columns.timeS.subarray(skip), this.#n);
    this.cpuPercent.set(columns.cpuPercent.subarray(skip), this.#n);
    this.rssBytes.set(columns.rssBytes.subarray(skip), this.#n);
    this.nProcesses.set(columns.nProcesses.subarray(skip), this.#n);
    this.gap.set(columns.gap.subarray(skip), this.#n);
    this.#n += count - skip;
    this.#version += 1;
  }

  /** The places of the samples within `span`, ends included: from, and up to but not including. */
  within({ startS, stopS }: Span): [from: number, to: number] {
    return [lowerBound(this.timeS, this.#n, startS), upperBound(this.timeS, this.#n, stopS)];
  }

  #makeRoom(count: number): void {
    const excess = this.#n + count - MAX_SAMPLES;
    if (excess > 0) {
      const gone = Math.min(Math.max(excess, MAX_SAMPLES / 10), this.#n);
      for (const column of [this.timeS, this.cpuPercent, this.rssBytes, this.nProcesses, this.gap]) {
        column.copyWithin(0, gone, this.#n);
      }
      this.#n -= gone;
    }
    const length = this.#n + count;
    this.timeS = roomFor(this.timeS, length);
    this.cpuPercent = roomFor(this.cpuPercent, length);
    this.rssBytes = roomFor(this.rssBytes, length);
    this.nProcesses = roomFor(this.nProcesses, length);
    this.gap = roomFor(this.gap, length);
  }
}
