/** What the workers of a cluster said of themselves, and what that is for all of them together. */
import { upperBound } from '../lib/search';
import type { ClusterWorker, WorkerColumns } from '../wire';
import { UNKNOWN_CODE } from '../wire';
import { roomFor } from './columns';

/** As many as the recorder keeps. */
const MAX_SAMPLES = 200_000;
/** A worker that said nothing for as long as this is not counted any more: heartbeats of large clusters come every 5 s. */
const STALE_S = 15;
/** Totals are taken no more often than this. */
const TOTAL_EVERY_S = 0.2;

/** Quantities of a worker, or of all; NaN: unknown. */
export const QUANTITIES = ['cpuPercent', 'rssBytes', 'managedBytes', 'spilledBytes', 'limitBytes', 'nThreads', 'nExecuting'] as const;
export type Quantity = (typeof QUANTITIES)[number];

/** Samples by time, each with the number of workers that it is of: 0 where nobody is there any more. */
export class WorkerSeries {
  n = 0;
  timeS = new Float64Array(0);
  nWorkers = new Uint16Array(0);
  readonly values: Record<Quantity, Float64Array> = {
    cpuPercent: new Float64Array(0),
    rssBytes: new Float64Array(0),
    managedBytes: new Float64Array(0),
    spilledBytes: new Float64Array(0),
    limitBytes: new Float64Array(0),
    nThreads: new Float64Array(0),
    nExecuting: new Float64Array(0)
  };

  push(timeS: number, nWorkers: number, valueOf: (quantity: Quantity) => number): void {
    const i = this.n;
    this.timeS = roomFor(this.timeS, i + 1);
    this.nWorkers = roomFor(this.nWorkers, i + 1);
    this.timeS[i] = timeS;
    this.nWorkers[i] = nWorkers;
    for (const quantity of QUANTITIES) {
      const column = roomFor(this.values[quantity], i + 1);
      column[i] = valueOf(quantity);
      this.values[quantity] = column;
    }
    this.n = i + 1;
  }

  /** The last sample at `timeS` that is not too old to say anything of it; -1: there is none. */
  at(timeS: number): number {
    const i = upperBound(this.timeS, this.n, timeS) - 1;
    return i >= 0 && timeS - (this.timeS[i] as number) <= STALE_S ? i : -1;
  }

  /** Whether sample `i` goes on from the one before. */
  continues(i: number): boolean {
    return i > 0 && (this.timeS[i] as number) - (this.timeS[i - 1] as number) <= STALE_S && (this.nWorkers[i - 1] as number) > 0;
  }
}

/** One sample of one worker, in order of time. */
interface Sample {
  readonly worker: number;
  readonly timeS: number;
  readonly values: Record<Quantity, number>;
}

export class WorkerStore {
  readonly workers: (ClusterWorker | undefined)[] = [];
  #samples: Sample[] = [];
  #next = 0;
  #version = 0;
  #series = new Map<number, WorkerSeries>();
  #seriesVersion = -1;

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }
  /** Samples held. */
  get n(): number {
    return this.#samples.length;
  }

  /** Take over new samples; those that are already here are skipped. */
  append(columns: WorkerColumns): void {
    for (const worker of columns.workers) {
      this.workers[worker.id] = worker;
    }
    const count = columns.timeS.length;
    const skip = Math.min(Math.max(this.#next - columns.first, 0), count);
    if (skip === count && columns.workers.length === 0) {
      return;
    }
    for (let i = skip; i < count; i += 1) {
      this.#samples.push(sampleOf(columns, i));
    }
    if (this.#samples.length > MAX_SAMPLES) {
      this.#samples = this.#samples.slice(-MAX_SAMPLES * 0.9);
    }
    this.#next = Math.max(this.#next, columns.first + count);
    this.#version += 1;
  }

  /** The name of the worker with this address; null: nobody knows. */
  nameOf(address: string): string | null {
    return this.workers.find(worker => worker?.address === address)?.name ?? null;
  }

  /** The samples of one worker, or of all of them together. */
  series(worker: number | null): WorkerSeries {
    if (this.#seriesVersion !== this.#version) {
      this.#seriesVersion = this.#version;
      this.#series = new Map();
      this.#samples.sort((a, b) => a.timeS - b.timeS);
    }
    const key = worker ?? -1;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = worker === null ? totalsOf(this.#samples) : seriesOf(this.#samples.filter(sample => sample.worker === worker));
      this.#series.set(key, series);
    }
    return series;
  }
}

function sampleOf(columns: WorkerColumns, i: number): Sample {
  const nExecuting = columns.nExecuting[i] as number;
  return {
    worker: columns.worker[i] as number,
    timeS: columns.timeS[i] as number,
    values: {
      cpuPercent: columns.cpuPercent[i] as number,
      rssBytes: columns.rssBytes[i] as number,
      managedBytes: columns.managedBytes[i] as number,
      spilledBytes: columns.spilledBytes[i] as number,
      limitBytes: columns.limitBytes[i] as number,
      nThreads: columns.nThreads[i] as number,
      nExecuting: nExecuting === UNKNOWN_CODE ? NaN : nExecuting
    }
  };
}

function seriesOf(samples: readonly Sample[]): WorkerSeries {
  const series = new WorkerSeries();
  for (const { timeS, values } of samples) {
    series.push(timeS, values.nThreads > 0 ? 1 : 0, quantity => values[quantity]);
  }
  return series;
}

/** At each moment, the sum of what each worker that is there said last; unknown where one of them did not say. */
function totalsOf(samples: readonly Sample[]): WorkerSeries {
  const series = new WorkerSeries();
  const last = new Map<number, Sample>();
  samples.forEach((sample, i) => {
    last.set(sample.worker, sample);
    const next = samples[i + 1];
    const slot = Math.floor(sample.timeS / TOTAL_EVERY_S);
    if (next !== undefined && Math.floor(next.timeS / TOTAL_EVERY_S) === slot) {
      return;
    }
    const there = [...last.values()].filter(({ timeS, values }) => values.nThreads > 0 && sample.timeS - timeS <= STALE_S);
    series.push(sample.timeS, there.length, quantity => there.reduce((sum, { values }) => sum + values[quantity], 0));
  });
  return series;
}
