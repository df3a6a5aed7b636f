/** Batches of tasks as a test writes them down: one object a task. */
import { type TaskStoreOptions, TaskStore } from '../../src/store';
import { type Batch, TEXT_KEY } from '../../src/wire';
import { type SmallBatch, sectionOf, smallBatch, smallRun } from '../charts/small-batch';

export interface Row {
  lane?: number;
  start: number;
  stop: number;
  group?: number;
  status?: number;
  scheduler?: boolean;
  run?: number;
  cpuS?: number;
  nbytes?: number;
  key?: number[] | string;
  error?: string;
}

const GROUPS = ['inc', 'add', 'sum'].map((prefix, id) => ({ name: `${prefix}-1`, prefix, colour: id }));
const LANES = [0, 1].map(id => ({ worker: 'main', thread: id, label: `thread ${id + 1}` }));

/** A key as the columns of its row. */
export function keyOf(key: readonly number[] | string): object {
  return typeof key === 'string' ? { dims: TEXT_KEY, keyText: key } : { dims: key.length, ...Object.fromEntries(key.map((int, k) => [`i${k}`, int])) };
}

/** A batch with these rows; two lanes, groups inc, add and sum, one compute that runs. */
export function batchOf(rows: readonly Row[], { first = 0, ...batch }: Partial<SmallBatch> & { first?: number } = {}): Batch {
  const errors = [...new Set(rows.flatMap(row => row.error ?? []))];
  const tasks = rows.map(row => ({
    run: row.run, lane: row.lane, group: row.group, status: row.status, observedBy: row.scheduler,
    durationS: row.stop - row.start, stopS: row.stop, cpuS: row.cpuS, nbytes: row.nbytes,
    error: row.error === undefined ? null : errors.indexOf(row.error), ...keyOf(row.key ?? [])
  }));
  return smallBatch({ groups: GROUPS, lanes: LANES, runs: [smallRun()], errors, tasks: sectionOf('tasks', tasks, first), ...batch });
}

/** A store with this batch. */
export function storeWith(batch: Batch, options: TaskStoreOptions = {}): TaskStore {
  const store = new TaskStore(options);
  store.append(batch);
  return store;
}
