/** What a compute of a cluster waits for before its tasks are known. */
import { expect, it } from 'vitest';
import { building } from '../../../src/charts/cluster/layer';
import { ALL_RUNS, TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { smallProgress, smallRun } from '../small-batch';

const ON_CLUSTER = { scheduler: 'distributed', startS: 10, sendS: 1 };

it('says that the scheduler builds the graph until its tasks are known', () => {
  const store = new TaskStore({ clockMs: () => 0 });
  const say = (): string | null => building(store, ALL_RUNS, 22);
  const said = [say()];
  store.append(batchOf([], { runs: [smallRun({ ...ON_CLUSTER, scheduler: 'threads', sendS: null })] }));
  said.push(say());
  store.append(batchOf([], { seq: 1, runs: [smallRun(ON_CLUSTER)] }));
  said.push(say());
  store.append(batchOf([], { seq: 2, runs: [smallRun(ON_CLUSTER)], progress: [smallProgress()] }));
  said.push(say());
  expect(said).toEqual([null, null, 'the scheduler builds the graph: 12 s', null]);
});
