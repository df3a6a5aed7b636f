/** What a page has of a cluster besides its tasks: samples of its workers, their sums, and seconds by activity. */
import { upperBound } from '../../lib/search';
import type { ClusterWorker, PageTables, PrefixSeconds, TableRow } from '../../wire';
import { tableRows } from '../../wire';
import { columnTable, seriesTable } from '../columns';
import { type RunRange, inRunRange } from '../tables';
import { ActivityStore } from './activity-store';
import type { Pair } from './pairs';
import { Pairs } from './pairs';

/** A worker that said nothing for as long as this is not counted any more: heartbeats of large clusters come every 5 s. */
const STALE_S = 15;
/** Totals are taken no more often than this. */
const TOTAL_EVERY_S = 0.2;
/** As many steals and lines of logs as the recorder keeps. */
const MAX_ROWS = 10_000;

/** Quantities of which all workers have the sum; NaN: unknown. */
const SUMMED = ['cpuPercent', 'rssBytes', 'managedBytes', 'spilledBytes', 'limitBytes', 'nThreads', 'nExecuting'] as const;
/** Quantities that cannot be added up, those of a machine that several workers share among them: of all it is the most of any. */
const MOST = ['tickS', 'gilContention', 'netReadBps', 'netWriteBps', 'diskReadBps', 'diskWriteBps', 'nFds', 'gpuPercent', 'gpuBytes'] as const;
export const QUANTITIES = [...SUMMED, ...MOST] as const;
export type Quantity = (typeof QUANTITIES)[number];

const isMost = (quantity: Quantity): boolean => (MOST as readonly Quantity[]).includes(quantity);

export function ofEachQuantity<T>(valueOf: (quantity: Quantity) => T): Record<Quantity, T> {
  return Object.fromEntries(QUANTITIES.map(quantity => [quantity, valueOf(quantity)])) as Record<Quantity, T>;
}

const SeriesTable = columnTable({
  timeS: Float64Array,
  nWorkers: Uint16Array,
  ...ofEachQuantity(() => Float64Array)
});

/** Samples by time, each with the number of workers that it is of: 0 where nobody is there any more. */
export class WorkerSeries extends SeriesTable {
  push(timeS: number, nWorkers: number, valueOf: (quantity: Quantity) => number): void {
    const i = this.n;
    this.reserve(i + 1);
    this.timeS[i] = timeS;
    this.nWorkers[i] = nWorkers;
    for (const quantity of QUANTITIES) {
      this[quantity][i] = valueOf(quantity);
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

/** Unknown quantities are NaN; a worker of no threads has left. As many samples as the recorder keeps. */
const SampleTable = seriesTable({ ...ofEachQuantity(() => Float64Array), worker: Uint32Array, timeS: Float64Array }, 200_000);

export class WorkerStore extends SampleTable {
  readonly workers = new Map<number, ClusterWorker>();
  /** By address: of the latest worker that had it. */
  readonly #names = new Map<string, string>();
  #rearranged = 0;
  #series = new Map<number, WorkerSeries>();
  #seriesVersion = -1;
  #totals = new Totals(this);

  /** Take workers that are new or have other names now, and samples that have not come before. */
  append(tables: Pick<PageTables, 'workers' | 'worker_samples'>): void {
    const changed = tableRows(tables, 'workers');
    for (const worker of changed) {
      this.workers.set(worker.worker, worker);
      this.#names.set(worker.address, worker.name);
    }
    const isNew = this.take(tables.worker_samples);
    if (this.#rearranged !== this.rearranged) {
      this.#rearranged = this.rearranged;
      this.#totals = new Totals(this);
    }
    this.version += Number(!isNew && changed.length > 0);
  }

  /** The name of the worker with this address; null: nobody knows. */
  nameOf(address: string): string | null {
    return this.#names.get(address) ?? null;
  }

  /** The samples of one worker, or of all of them together. */
  series(worker: number | null): WorkerSeries {
    if (worker === null) {
      return this.#totals.series();
    }
    if (this.#seriesVersion !== this.version) {
      this.#seriesVersion = this.version;
      this.#series = new Map();
    }
    let series = this.#series.get(worker);
    if (series === undefined) {
      series = new WorkerSeries();
      for (let i = 0; i < this.n; i += 1) {
        if (this.worker[i] === worker) {
          series.push(this.timeS[i] as number, (this.nThreads[i] as number) > 0 ? 1 : 0, quantity => this[quantity][i] as number);
        }
      }
      this.#series.set(worker, series);
    }
    return series;
  }

  /** How many tasks the workers said that they run, if all that are there have said so since then; null: some have not. */
  executingSince(sinceS: number): number | null {
    const all = this.series(null);
    const seen = new Set<number>();
    let [nThere, executing] = [0, 0];
    for (let i = this.n - 1; i >= 0 && (this.timeS[i] as number) >= sinceS; i -= 1) {
      const worker = this.worker[i] as number;
      if (!seen.has(worker)) {
        seen.add(worker);
        const isThere = (this.nThreads[i] as number) > 0;
        nThere += Number(isThere);
        executing += isThere ? (this.nExecuting[i] as number) : 0;
      }
    }
    return nThere > 0 && nThere === all.nWorkers[all.n - 1] && !Number.isNaN(executing) ? executing : null;
  }
}

/** At each moment, the sum of what each worker that is there said last, unknown where one of them did not say; or the most of it. */
class Totals {
  readonly #series = new WorkerSeries();
  /** The last sample of each worker among those that were gone through. */
  readonly #last = new Map<number, number>();
  #done = 0;
  #slot = NaN;

  constructor(private readonly samples: WorkerStore) {}

  /** The totals up to the last sample that there is now. */
  series(): WorkerSeries {
    const { samples } = this;
    for (; this.#done < samples.n; this.#done += 1) {
      const i = this.#done;
      this.#last.set(samples.worker[i] as number, i);
      const [slot, next] = [this.#slotOf(i), i + 1 < samples.n ? this.#slotOf(i + 1) : NaN];
      if (slot !== next) {
        if (slot === this.#slot) {
          // More came since of what was the last moment then.
          this.#series.n -= 1;
        }
        this.#slot = slot;
        this.#push(i);
      }
    }
    return this.#series;
  }

  #slotOf(i: number): number {
    return Math.floor((this.samples.timeS[i] as number) / TOTAL_EVERY_S);
  }

  #push(at: number): void {
    const { samples } = this;
    const nowS = samples.timeS[at] as number;
    const there = [...this.#last.values()].filter(i => (samples.nThreads[i] as number) > 0 && nowS - (samples.timeS[i] as number) <= STALE_S);
    this.#series.push(nowS, there.length, quantity => {
      let [sum, most] = [0, NaN];
      for (const i of there) {
        const value = samples[quantity][i] as number;
        sum += value;
        most = most >= value || Number.isNaN(value) ? most : value;
      }
      return isMost(quantity) ? most : sum;
    });
  }
}

export interface SecondsOfPrefix {
  readonly prefix: string;
  readonly seconds: ReadonlyMap<string, number>;
  readonly totalS: number;
}

/** How long workers spent on what in executing tasks, by compute and prefix. */
class MetricStore {
  version = 0;
  /** Of each compute, by prefix and activity. */
  readonly #runs = new Map<number, Map<string, Map<string, number>>>();

  /** Take sums; they replace those that were told before. */
  append(rows: readonly PrefixSeconds[]): void {
    this.version += Number(rows.length > 0);
    for (const { run, prefix, activity, seconds } of rows) {
      const prefixes = this.#runs.get(run) ?? new Map<string, Map<string, number>>();
      const sums = prefixes.get(prefix) ?? new Map<string, number>();
      this.#runs.set(run, prefixes.set(prefix, sums.set(activity, seconds)));
    }
  }

  /** The prefixes of some computes, that of most seconds first. */
  byPrefix(runRange: RunRange): SecondsOfPrefix[] {
    const found = new Map<string, Map<string, number>>();
    for (const [run, prefixes] of this.#runs) {
      for (const [prefix, sums] of inRunRange(run, runRange) ? prefixes : []) {
        const all = found.get(prefix) ?? new Map<string, number>();
        found.set(prefix, all);
        sums.forEach((seconds, activity) => all.set(activity, (all.get(activity) ?? 0) + seconds));
      }
    }
    return [...found]
      .map(([prefix, seconds]) => ({ prefix, seconds, totalS: [...seconds.values()].reduce((sum, each) => sum + each, 0) }))
      .filter(({ totalS }) => totalS > 0)
      .sort((a, b) => b.totalS - a.totalS);
  }
}

/** Rows of a table in the order that they came in, the last ones. */
class RowStore<Name extends 'steals' | 'logs'> {
  version = 0;
  rows: TableRow<Name>[] = [];

  constructor(private readonly name: Name) {}

  append(tables: PageTables): void {
    const rows = tableRows(tables, this.name);
    if (rows.length > 0) {
      // A stream that begins anew repeats them.
      this.rows = tables[this.name].first === 0 ? rows : [...this.rows, ...rows].slice(-MAX_ROWS);
      this.version += 1;
    }
  }
}

/** Tasks that the scheduler moved, or meant to move, from one worker to another. */
class StealStore extends RowStore<'steals'> {
  pairs(runRange: RunRange): Pair[] {
    const pairs = new Pairs();
    for (const { run, fromWorker, toWorker, outcome, costS, timeS } of this.rows) {
      if (inRunRange(run, runRange)) {
        const isStolen = outcome === 'stolen';
        pairs.add(fromWorker, toWorker, { n: Number(isStolen), nOther: Number(!isStolen), nbytes: 0, seconds: isStolen ? costS ?? NaN : 0, firstS: timeS, lastS: timeS });
      }
    }
    return pairs.all;
  }
}

export class ClusterStore {
  steals = new StealStore('steals');
  logs = new RowStore('logs');
  activities = new ActivityStore();
  workers = new WorkerStore();
  metrics = new MetricStore();

  append(tables: PageTables): void {
    this.activities.append(tables);
    this.workers.append(tables);
    this.metrics.append(tableRows(tables, 'seconds'));
    this.steals.append(tables);
    this.logs.append(tables);
  }

  clear(): void {
    this.activities = new ActivityStore();
    this.workers = new WorkerStore();
    this.metrics = new MetricStore();
    this.steals = new StealStore('steals');
    this.logs = new RowStore('logs');
  }
}
