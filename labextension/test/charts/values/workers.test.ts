import { beforeEach, expect, it, vi } from 'vitest';

import { CLUSTER_CHARTS } from '../../../src/charts/cluster/layer';
import { mountTracks } from '../../../src/charts/tracks';
import { ClusterStore, type TaskStore } from '../../../src/store';
import { documentStore } from '../../files/documents';
import { batchOf, storeWith } from '../../store/rows';
import { sectionOf, sectionsOf } from '../small-batch';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

async function mounted(from: string | TaskStore): Promise<HTMLElement> {
  const store = typeof from === 'string' ? await documentStore(from) : from;
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['workers', 'resources'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS });
  vi.runOnlyPendingTimers();
  return el;
}

function choose(el: HTMLElement, worker: string): void {
  const select = el.querySelector('select') as HTMLSelectElement;
  select.value = worker;
  select.dispatchEvent(new Event('change'));
  vi.runOnlyPendingTimers();
}

const texts = (el: HTMLElement, selector: string): (string | null)[] => [...el.querySelectorAll(`.tsk-workers ${selector}`)].map(found => found.textContent);

const rows = (el: HTMLElement): (string | null)[][] =>
  [...el.querySelectorAll('.tsk-workers tbody tr')].filter(tr => !tr.closest('table')?.textContent.startsWith('Fetched')).map(tr => [...tr.children].map(td => td.textContent));

it('adds up what workers said last, and a worker that has left counts no more', async () => {
  const el = await mounted('cluster');
  expect(texts(el, 'option')).toEqual(['All workers (2)', 'worker a · tcp://10.0.0.1:4001', 'worker 7 · tls://10.0.0.2:4002']);
  // 150% + 90% of a core, of four threads; then a worker's CPU and results are unknown, and so are the sums.
  expect(rows(el)).toEqual([
    ['CPU', '60%', '60%', '750 ms', '100% = all 4 threads'],
    ['Memory', '', '900 MB', '1.5 s', 'limit 4 GB'],
    ['Results', '', '500 MB', '750 ms', ''],
    ['Unmanaged', '', '300 MB', '750 ms', ''],
    ['Spilled', '', '200 MB', '750 ms', '']
  ]);
  expect(texts(el, '.tsk-series-foot p, .tsk-series-foot li')).toEqual(['', 'Resultspeak 500 MB', 'Unmanagedpeak 300 MB', 'Spilledpeak 200 MB']);
});

it('shows one worker where the person chooses it, and that it is gone', async () => {
  const el = await mounted('cluster');
  choose(el, '1');
  expect(rows(el)).toEqual([
    ['CPU', '–', '45%', '750 ms', '100% = all 2 threads'],
    ['Memory', '', '500 MB', '750 ms', 'limit –'],
    ['Results', '', '400 MB', '750 ms', ''],
    ['Unmanaged', '', '100 MB', '750 ms', ''],
    ['Spilled', '', '200 MB', '750 ms', '']
  ]);
  expect(texts(el, '.tsk-series-foot p, .tsk-series-foot li')).toEqual(['gone', 'Resultspeak 400 MB', 'Unmanagedpeak 100 MB', 'Spilledpeak 200 MB']);
});

it('tells what else workers meter where they do, and of all of them the most of any', async () => {
  const store = await documentStore('cluster');
  const cluster = store.cluster as ClusterStore;
  const samples = [
    { worker: 0, timeS: 1.6, nThreads: 2, nExecuting: 0, tickS: 0.02, gilContention: 0.5, netReadBps: 2e6, nFds: 20, gpuPercent: 75 },
    { worker: 1, timeS: 1.7, nThreads: 2, nExecuting: 0, tickS: 0.25, netReadBps: 1e6, nFds: 30, gpuPercent: 50 }
  ];
  cluster.workers.append(sectionsOf({ worker_samples: sectionOf('worker_samples', samples, 4) }));
  const el = await mounted(store);
  expect(rows(el).slice(5).map(([name, , peak]) => [name, peak])).toEqual([
    ['Event loop, between ticks (most of any)', '250 ms'],
    ['Lock contention (most of any)', '50%'],
    ['Machine: received (most of any)', '2 MB/s'],
    ['File descriptors (most of any)', '30'],
    ['GPU (most of any)', '75%']
  ]);
  choose(el, '1');
  expect(rows(el).slice(5).map(([name, , peak]) => [name, peak])).toEqual([
    ['Event loop, between ticks', '250 ms'], ['Machine: received', '1 MB/s'], ['File descriptors', '30'], ['GPU', '50%']
  ]);
});

it('is not there where no worker was heard of', async () => {
  const el = await mounted(storeWith(batchOf([{ start: 0, stop: 1 }]), { cluster: new ClusterStore() }));
  expect(el.querySelector<HTMLElement>('.tsk-workers')?.hidden).toBe(true);
});

it('has what became of workers as a table, of all of them or of the one that is chosen', async () => {
  const store = await documentStore('cluster', { messages: sectionOf('messages', [
    { timeS: 0.5, level: 'warning', text: 'worker a paused', worker: 'tcp://10.0.0.1:4001', event: 'paused' },
    { timeS: 1.5, level: 'warning', text: 'worker 7 died', worker: 'tls://10.0.0.2:4002', event: 'died' }
  ]) });
  const el = await mounted(store);
  const told = (): (string | null)[][] => rows(el).slice(5);
  expect(told()).toEqual([['500 ms', 'worker a paused'], ['1.5 s', 'worker 7 died']]);
  choose(el, '1');
  expect(told()).toEqual([['1.5 s', 'worker 7 died']]);
});

it('counts all workers, also where it lists fewer', () => {
  const cluster = new ClusterStore();
  const workers = Array.from({ length: 2_500 }, (_, worker) => ({ worker, name: `${worker}`, address: `tcp://10.0.0.1:${worker}`, nThreads: 1 }));
  const store = storeWith(batchOf([{ start: 0, stop: 1 }]), { cluster });
  workers.forEach(worker => cluster.workers.workers.set(worker.worker, worker));
  cluster.workers.append(sectionsOf({ worker_samples: sectionOf('worker_samples', [{ worker: 0, timeS: 0.5, nThreads: 1, nExecuting: 0 }], 0) }));
  mountTracks(document.body, store, ['workers'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS });
  const options = [...document.querySelectorAll('option')].map(option => option.textContent);
  expect(options[0]).toBe('All workers (2,500)');
  expect(options.slice(1)).toEqual(workers.slice(0, 2_000).map(({ name, address }) => `worker ${name} · ${address}`));
});
