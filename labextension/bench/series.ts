/** What a scheduler held and what workers said of themselves, as many rows as a recorder keeps. */
import { ofEachQuantity } from '../src/store';
import type { Batch, Section, PageTables } from '../src/wire';
import { sectionOf, smallRun } from '../test/charts/small-batch';
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
    const nowS = Math.max(this.#heldS(this.#nHeld + held), this.#sampledS(this.#nSamples + samples));
    const seq = this.#seq;
    this.#seq += 1;
    return this.#tasks.nextBatch(0, seq, true, {
      nowS,
      runs: [smallRun({ nWorkers: this.size.workers, nTasks: 0 })],
      held: this.#held(held),
      tables: this.size.workers === 0 ? {} : this.#samples(samples)
    });
  }

  #heldS(row: number): number {
    return (row / Math.max(this.size.held, 1)) * LENGTH_S;
  }

  #sampledS(sample: number): number {
    return (sample / Math.max(this.size.samples, 1)) * LENGTH_S;
  }

  #held(n: number): Section<'cache'> {
    const first = this.#nHeld;
    this.#nHeld += n;
    const columns = {
      timeS: Float64Array.from({ length: n }, (_, i) => this.#heldS(first + i)),
      run: new Int32Array(n),
      group: Int32Array.from({ length: n }, (_, i) => (first + i) % GROUPS),
      nKeys: Int32Array.from({ length: n }, (_, i) => 1 + ((first + i) % 97)),
      nbytes: Float64Array.from({ length: n }, (_, i) => 1e6 * (1 + ((first + i) % 89))),
      nUnsized: new Int32Array(n), value: new Float64Array(n).fill(NaN), nUnvalued: new Int32Array(n)
    };
    return { first, n, columns };
  }

  #samples(count: number): Partial<PageTables> {
    const { workers } = this.size;
    const first = this.#nSamples * workers;
    const n = count * workers;
    const sampleOf = (i: number): number => this.#nSamples + Math.floor(i / workers);
    const columns = {
      ...ofEachQuantity(quantity => Float64Array.from({ length: n }, (_, i) => (1 + quantity.length) * (1 + ((i * 31) % 89)))),
      worker: Int32Array.from({ length: n }, (_, i) => i % workers),
      timeS: Float64Array.from({ length: n }, (_, i) => this.#sampledS(sampleOf(i)))
    };
    const isHead = this.#nSamples === 0;
    this.#nSamples += count;
    return {
      workers: sectionOf('workers', Array.from({ length: isHead ? workers : 0 }, (_, worker) => ({ worker, address: `tcp://10.0.0.${worker}:1`, name: `worker-${worker}`, nThreads: 2 }))),
      worker_samples: { first, n, columns }
    };
  }
}
