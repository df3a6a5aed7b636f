import { expect, it } from 'vitest';

import { CLUSTER_CHARTS } from '../../../src/charts/cluster/layer';
import { mountTracks } from '../../../src/charts/tracks';
import { ClusterStore, TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { sectionOf, sectionsOf } from '../small-batch';

it('counts all workers, also where it lists fewer', () => {
  const cluster = new ClusterStore();
  const workers = Array.from({ length: 2_500 }, (_, worker) => ({ worker, name: `${worker}`, address: `tcp://10.0.0.1:${worker}`, nThreads: 1 }));
  const store = new TaskStore({ cluster });
  store.append(batchOf([{ start: 0, stop: 1 }]));
  workers.forEach(worker => cluster.workers.workers.set(worker.worker, worker));
  cluster.workers.append(sectionsOf({ worker_samples: sectionOf('worker_samples', [{ worker: 0, timeS: 0.5, nThreads: 1, nExecuting: 0 }], 0) }));
  mountTracks(document.body, store, ['workers'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS });
  const options = [...document.querySelectorAll('option')].map(option => option.textContent);
  expect(options[0]).toBe('All workers (2,500)');
  expect(options.slice(1)).toEqual(workers.slice(0, 2_000).map(({ name, address }) => `worker ${name} · ${address}`));
});
