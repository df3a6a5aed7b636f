/** What a scheduler held and what workers said of themselves, as many rows as a recorder keeps. */
import { ofEachQuantity } from '../src/store';
import type { Batch, ClusterPart, HeldColumns } from '../src/wire';
import { TaskMaker } from './data';

export interface SeriesSize {
  /** Rows of the cache. */
  readonly held: number;
  readonly workers: number;
  /** Of each worker. */
  readonly samples: number;
}

const GROUPS = 20;
const LENGTH_S = 600;

/** Makes the same rows each time, spread over ten minutes; what comes after that many comes at the same pace. */
export class SeriesMaker {
  readonly #tasks = new TaskMaker({ lanes: 1, workers: 1, prefixes: GROUPS, keep: Infinity });
  #seq = 0;
  #nHeld = 0;
  #nSamples = 0;

  constructor(private readonly size: SeriesSize) {}

  /** The next rows of the cache, and samples of each worker, as a message. */
  nextBatch(held: number, samples: number): Batch {
    const batch = this.#tasks.nextBatch(0, this.#seq, true);
    const nowS = Math.max(this.#heldS(this.#nHeld + held), this.#sampledS(this.#nSamples + samples));
    this.#seq += 1;
    return {
      ...batch,
      nowS,
      runs: batch.runs.map(run => ({ ...run, nWorkers: this.size.workers })),
      held: this.#held(held),
      cluster: this.size.workers === 0 ? null : this.#samples(samples)
    };
  }

  #heldS(row: number): number {
    return (row / Math.max(this.size.held, 1)) * LENGTH_S;
  }

  #sampledS(sample: number): number {
    return (sample / Math.max(this.size.samples, 1)) * LENGTH_S;
  }

  #held(count: number): HeldColumns {
    const first = this.#nHeld;
    this.#nHeld += count;
    return {
      first,
      timeS: Float64Array.from({ length: count }, (_, i) => this.#heldS(first + i)),
      run: new Int32Array(count),
      group: Uint16Array.from({ length: count }, (_, i) => (first + i) % GROUPS),
      nKeys: Uint32Array.from({ length: count }, (_, i) => 1 + ((first + i) % 97)),
      nbytes: Float64Array.from({ length: count }, (_, i) => 1e6 * (1 + ((first + i) % 89))),
      nUnsized: new Uint32Array(count),
      value: null,
      nUnvalued: null,
      metrics: new Map(),
      isUnknown: false
    };
  }

  #samples(count: number): ClusterPart {
    const { workers } = this.size;
    const first = this.#nSamples * workers;
    const n = count * workers;
    const sampleOf = (i: number): number => this.#nSamples + Math.floor(i / workers);
    const rows = {
      ...ofEachQuantity(quantity => Float64Array.from({ length: n }, (_, i) => (1 + quantity.length) * (1 + ((i * 31) % 89)))),
      worker: Uint16Array.from({ length: n }, (_, i) => i % workers),
      timeS: Float64Array.from({ length: n }, (_, i) => this.#sampledS(sampleOf(i)))
    };
    const isHead = this.#nSamples === 0;
    this.#nSamples += count;
    const none = new Float64Array();
    return {
      activities: {
        first: 0, dropped: 0, run: none, lane: none, kind: none, group: none, source: none, startS: none, durationS: none, nbytes: none,
        completedRow: none, completedBytes: none, sources: []
      },
      workers: {
        first,
        ...rows,
        workers: Array.from({ length: isHead ? workers : 0 }, (_, id) => ({ id, address: `tcp://10.0.0.${id}:1`, name: `worker-${id}`, nThreads: 2 }))
      },
      metrics: []
    };
  }
}
