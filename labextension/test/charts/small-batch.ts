/** Batches as small as a test needs them: no tasks, and only what it says. */
import type { Batch, PrefixProgress, Run } from '../../src/wire';
import { heldColumns, resourceColumns } from '../store/series';

export function smallBatch(batch: Partial<Batch> = {}): Batch {
  return {
    recorder: 'r', epoch: 'r-1', seq: 0, nowS: 0, active: true, final: false,
    first: 0, count: 0, cursor: 0, dropped: 0,
    tasks: {
      run: new Int32Array(), lane: new Uint16Array(), group: new Uint16Array(), status: new Uint8Array(),
      observedBy: new Uint8Array(), cpuFrom: new Uint8Array(), startS: new Float64Array(), stopS: new Float64Array(),
      cpuS: new Float64Array(), nbytes: new Float64Array(),
      keys: { dims: new Uint8Array(), ints: new Int32Array(), lengths: new Uint16Array(), text: new Uint8Array() },
      error: new Uint16Array()
    },
    errors: [],
    groups: [], lanes: [], runs: [], progress: [], estimates: [], stops: [], running: [], remarks: [],
    resources: resourceColumns(), held: heldColumns(), cluster: null, metered: { row: new Int32Array(), cpuS: new Float64Array(), cpuFrom: new Int32Array() },
    ...batch
  };
}

export function smallRun(run: Partial<Run> = {}): Run {
  return {
    run: 0, label: null, cell: null, executionCount: null, sourceCrc: null, scheduler: 'threads', nWorkers: 2, nTasks: 10,
    startS: 0, stopS: null, status: 'running', error: null,
    sendS: null, receivedS: null, materializeS: null, orderS: null, initializeS: null, poolStartS: null,
    ...run
  };
}

export function smallProgress(row: Partial<PrefixProgress> = {}): PrefixProgress {
  return {
    run: 0, prefix: 'add', total: 10, finished: 0, erred: 0, running: 0, interrupted: 0, skipped: 0, again: 0, durationS: 0, firstS: null, scheduled: null,
    ...row
  };
}
