/** Batches of tasks as a test writes them down: one object a task. */
import type { Batch } from '../../src/wire';
import { UNKNOWN_CODE } from '../../src/wire';
import { smallBatch, smallRun } from '../charts/small-batch';

export interface Row {
  lane?: number;
  start: number;
  stop: number;
  group?: number;
  status?: number;
  scheduler?: boolean;
  run?: number;
  cpuS?: number;
  isCpuShared?: boolean;
  nbytes?: number;
  key?: number[] | string;
  error?: string;
}

const GROUPS = ['inc', 'add', 'sum'].map((prefix, id) => ({ id, name: `${prefix}-1`, prefix, colour: id }));
const LANES = [0, 1].map(id => ({ id, worker: 'main', thread: id, label: `thread ${id + 1}` }));

/** A batch with these rows; two lanes, groups inc, add and sum, one compute that runs. */
export function batchOf(rows: readonly Row[], batch: Partial<Batch> = {}): Batch {
  const texts = rows.flatMap(row => (typeof row.key === 'string' ? [new TextEncoder().encode(row.key)] : []));
  const errors = [...new Set(rows.flatMap(row => row.error ?? []))];
  const first = batch.first ?? 0;
  return smallBatch({
    count: rows.length,
    cursor: first + rows.length,
    tasks: {
      run: Int32Array.from(rows, row => row.run ?? 0),
      lane: Uint16Array.from(rows, row => row.lane ?? 0),
      group: Uint16Array.from(rows, row => row.group ?? 0),
      status: Uint8Array.from(rows, row => row.status ?? 0),
      observedBy: Uint8Array.from(rows, row => (row.scheduler === true ? 1 : 0)),
      cpuFrom: Uint8Array.from(rows, row => (row.isCpuShared === true ? 1 : 0)),
      startS: Float64Array.from(rows, row => row.start),
      stopS: Float64Array.from(rows, row => row.stop),
      cpuS: Float64Array.from(rows, row => row.cpuS ?? NaN),
      nbytes: Float64Array.from(rows, row => row.nbytes ?? NaN),
      keys: {
        dims: Uint8Array.from(rows, row => (typeof row.key === 'string' ? 255 : (row.key ?? []).length)),
        ints: Int32Array.from(rows.flatMap(row => (typeof row.key === 'string' ? [] : (row.key ?? [])))),
        lengths: Uint16Array.from(texts, text => text.length),
        text: Uint8Array.from(texts.flatMap(text => [...text]))
      },
      error: Uint16Array.from(
        rows.filter(row => (row.status ?? 0) !== 0),
        row => (row.error === undefined ? UNKNOWN_CODE : errors.indexOf(row.error))
      )
    },
    errors,
    groups: GROUPS,
    lanes: LANES,
    runs: [smallRun()],
    ...batch
  });
}
