/** Tasks as a busy machine makes them: each lane works off one after another, nine tenths of the time. */
import type { Batch, PageTables } from '../src/wire';
import type { SmallBatch } from '../test/charts/small-batch';
import { sectionOf, smallBatch, smallProgress, smallRun } from '../test/charts/small-batch';

export interface Workload {
  readonly lanes: number;
  /** More than one begin collapsed where there are many lanes. */
  readonly workers: number;
  readonly prefixes: number;
  /** How many tasks the recorder keeps. */
  readonly keep: number;
}

const MEAN_S = 0.01;
const BUSY = 0.91;
/** How many tasks of one prefix follow each other in a lane, on average. */
const STRETCH = 8;

/** Makes the same tasks each time. */
export class TaskMaker {
  readonly #stopS: Float64Array;
  readonly #prefix: Uint16Array;
  #row = 0;
  #seed = 12_345;

  constructor(private readonly workload: Workload) {
    this.#stopS = new Float64Array(workload.lanes);
    this.#prefix = new Uint16Array(workload.lanes);
  }

  /** When the last task so far ended. */
  get nowS(): number {
    return this.#stopS.reduce((a, b) => Math.max(a, b), 0);
  }

  /** The next `count` tasks. */
  next(count: number): PageTables['tasks']['columns'] {
    const tasks = {
      ...sectionOf('tasks').columns,
      run: new Int32Array(count), lane: new Int32Array(count), group: new Int32Array(count), status: new Int32Array(count),
      observedBy: new Int32Array(count), durationS: new Float64Array(count), stopS: new Float64Array(count),
      cpuS: new Float64Array(count).fill(0.001), nbytes: new Float64Array(count).fill(1e6), error: new Float64Array(count).fill(NaN),
      dims: new Int32Array(count).fill(2), i0: new Int32Array(count), i1: new Int32Array(count)
    };
    for (let i = 0; i < count; i += 1) {
      const lane = this.#row % this.workload.lanes;
      if (this.#random() < 1 / STRETCH) {
        this.#prefix[lane] = Math.floor(this.#random() * this.workload.prefixes);
      }
      const startS = (this.#stopS[lane] as number) + MEAN_S * (1 / BUSY - 1) * 2 * this.#random();
      const stopS = startS + MEAN_S * 2 * this.#random();
      this.#stopS[lane] = stopS;
      tasks.lane[i] = lane;
      tasks.group[i] = this.#prefix[lane] as number;
      tasks.durationS[i] = stopS - startS;
      tasks.stopS[i] = stopS;
      tasks.i0[i] = this.#row;
      this.#row += 1;
    }
    return tasks;
  }

  /** The next `count` tasks as a message; the first one has all tables. */
  nextBatch(count: number, seq: number, active: boolean, more: Partial<SmallBatch> = {}): Batch {
    const first = this.#row;
    const columns = this.next(count);
    const { lanes, workers, prefixes } = this.workload;
    const ids = (n: number): number[] => Array.from({ length: seq === 0 ? n : 0 }, (_, id) => id);
    return smallBatch({
      epoch: 'bench-1', seq, nowS: this.nowS, active, dropped: Math.max(this.#row - this.workload.keep, 0), tasks: { first, n: count, columns },
      groups: ids(prefixes).map(id => ({ name: `step-${id}`, prefix: `step-${id}`, colour: id })),
      lanes: ids(lanes).map(id => ({ worker: `worker-${id % workers}`, thread: id, label: `thread ${id + 1}` })),
      runs: [smallRun({ nWorkers: lanes, nTasks: this.#row, stopS: active ? null : this.nowS, status: active ? 'running' : 'finished' })],
      progress: ids(prefixes).map(id => smallProgress({ prefix: `step-${id}`, total: count, finished: count, durationS: 1, firstS: 0 })),
      ...more
    });
  }

  #random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }
}

/** The part of `span` that `n` tasks of a workload fill, summed up without a store. */
export function trueBusy(workload: Workload, n: number, startS: number, stopS: number): number {
  const maker = new TaskMaker(workload);
  let sumS = 0;
  for (let left = n; left > 0; left -= 100_000) {
    const tasks = maker.next(Math.min(left, 100_000));
    tasks.stopS.forEach((stop: number, i: number) => {
      sumS += Math.max(Math.min(stop, stopS) - Math.max(stop - (tasks.durationS[i] as number), startS), 0);
    });
  }
  return sumS / (stopS - startS) / workload.lanes;
}
