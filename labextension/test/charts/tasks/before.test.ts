/** What was done before the first task of computes. */
import { describe, expect, it } from 'vitest';
import { beforeTables, stepsOf } from '../../../src/charts/tasks/words';
import { ALL_RUNS, TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { smallRun } from '../small-batch';

const ON_CLUSTER = { scheduler: 'distributed', startS: 10, sendS: 1 };
const BUILT = { ...ON_CLUSTER, receivedS: 10.5, materializeS: 4, orderS: 0.5, initializeS: 0.25 };

describe('before the first task', () => {
  it('is what the client does, then what the scheduler does, and what is not known is left out', () => {
    expect([BUILT, { orderS: 0.5 }, {}].map(known => stepsOf(smallRun(known)))).toEqual([
      [['sending the graph', 1], ['making its tasks', 4], ['ordering them', 0.5], ['taking them in', 0.25]], [['ordering them', 0.5]], []
    ]);
  });

  it('is a table, and none where nothing is known', () => {
    const store = new TaskStore({ clockMs: () => 0 });
    store.append(batchOf([], { runs: [smallRun()] }));
    const none = beforeTables(store, ALL_RUNS);
    store.append(batchOf([], { seq: 1, runs: [smallRun({ ...ON_CLUSTER, run: 1, executionCount: 4 })] }));
    expect([none, ...beforeTables(store, ALL_RUNS).map(({ rows }) => rows)]).toEqual([[], [['In [4]', 'sending the graph', '1 s']]]);
  });
});
