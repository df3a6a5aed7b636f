/** Tasks as a busy machine makes them: each lane works off one after another, nine tenths of the time. */
import type { Batch, TaskColumns } from '../src/wire';

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
  next(count: number): TaskColumns {
    const tasks = {
      run: new Int32Array(count),
      lane: new Uint16Array(count),
      group: new Uint16Array(count),
      status: new Uint8Array(count),
      observedBy: new Uint8Array(count),
      cpuFrom: new Uint8Array(count),
      startS: new Float64Array(count),
      stopS: new Float64Array(count),
      cpuS: new Float64Array(count).fill(0.001),
      nbytes: new Float64Array(count).fill(1e6),
      keys: {
        dims: new Uint8Array(count).fill(2),
        ints: new Int32Array(2 * count),
        lengths: new Uint16Array(0),
        text: new Uint8Array(0)
      },
      error: new Uint16Array(0)
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
      tasks.startS[i] = startS;
      tasks.stopS[i] = stopS;
      tasks.keys.ints[2 * i] = this.#row;
      this.#row += 1;
    }
    return tasks;
  }

  /** The next `count` tasks as a message; the first one has all tables. */
  nextBatch(count: number, seq: number, active: boolean): Batch {
    const first = this.#row;
    const tasks = this.next(count);
    const { lanes, workers, prefixes } = this.workload;
    const head = seq === 0;
    const ids = (n: number): number[] => Array.from({ length: head ? n : 0 }, (_, id) => id);
    return {
      recorder: 'bench', epoch: 'bench-1', seq, nowS: this.nowS, active, final: false, estimates: [], stops: [],
      first, count, cursor: this.#row, dropped: Math.max(this.#row - this.workload.keep, 0), tasks, errors: [], running: [], remarks: [],
      groups: ids(prefixes).map(id => ({ id, name: `step-${id}`, prefix: `step-${id}`, colour: id })),
      lanes: ids(lanes).map(id => ({ id, worker: `worker-${id % workers}`, thread: id, label: `thread ${id + 1}` })),
      runs: [{
        run: 0, label: null, cell: null, executionCount: null, sourceCrc: null, scheduler: 'threads', nWorkers: lanes, nTasks: this.#row,
        startS: 0, stopS: active ? null : this.nowS, status: active ? 'running' : 'finished', error: null,
        sendS: null, receivedS: null, materializeS: null, orderS: null, initializeS: null, poolStartS: null
      }],
      progress: ids(prefixes).map(id => ({
        run: 0, prefix: `step-${id}`, total: count, finished: count, erred: 0, running: 0, interrupted: 0, skipped: 0, again: 0, durationS: 1, firstS: 0, scheduled: null
      })),
      resources: {
        first: 0, nCores: null, limitBytes: null, timeS: new Float64Array(), cpuPercent: new Float32Array(),
        rssBytes: new Float64Array(), nProcesses: new Uint16Array(), gap: new Uint8Array()
      },
      cluster: null,
      metered: { row: new Int32Array(), cpuS: new Float64Array(), cpuFrom: new Int32Array() },
      held: {
        first: 0, run: new Int32Array(), group: new Uint16Array(), timeS: new Float64Array(),
        nKeys: new Uint32Array(), nbytes: new Float64Array(), nUnsized: new Uint32Array(), value: null, nUnvalued: null,
        metrics: new Map(), isUnknown: false
      }
    };
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
    tasks.startS.forEach((start, i) => {
      sumS += Math.max(Math.min(tasks.stopS[i] as number, stopS) - Math.max(start, startS), 0);
    });
  }
  return sumS / (stopS - startS) / workload.lanes;
}
