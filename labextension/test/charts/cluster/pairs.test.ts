import { beforeEach, expect, it, vi } from 'vitest';

import { CLUSTER_CHARTS } from '../../../src/charts/cluster/layer';
import { mountTracks } from '../../../src/charts/tracks';
import { ClusterStore, TaskStore } from '../../../src/store';
import { sectionOf, smallBatch, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

const address = (worker: number): string => `tcp://w:${worker}`;

interface Moved { from: number | null; to: number; nbytes?: number; startS?: number; durationS: number; run?: number }
interface Stolen { fromWorker: string; toWorker: string; outcome: string; timeS: number; costS?: number; run?: number }

/** The workers' chart of the first compute, between whose workers this went; each worker is named by its number. */
function mounted(nWorkers: number, moved: readonly Moved[], ...stolen: (readonly Stolen[])[]): HTMLElement {
  const store = new TaskStore({ cluster: new ClusterStore() });
  const workers = Array.from({ length: nWorkers }, (_, worker) => worker);
  const activities = moved.map(({ from, to, startS = 0.5, ...row }) => ({ run: 0, group: 0, activity: 'transfer', lane: to, source: from === null ? 0 : from + 1, startS, ...row }));
  const tables = (first: number, steals: readonly Stolen[]): object => ({
    sources: sectionOf('sources', ['', ...workers.map(address)].map(text => ({ text }))),
    activities: sectionOf('activities', activities),
    workers: sectionOf('workers', workers.map(worker => ({ worker, name: `${worker}`, address: address(worker), nThreads: 1 }))),
    worker_samples: sectionOf('worker_samples', [{ worker: 0, timeS: 0.5, nThreads: 1, nExecuting: 0 }]),
    steals: sectionOf('steals', steals.map(row => ({ run: 0, ...row })), first)
  });
  const lanes = workers.map(worker => ({ worker: address(worker), thread: worker, label: `worker ${worker}` }));
  const runs = [smallRun({ status: 'finished', stopS: 9 }), smallRun({ run: 1, startS: 9 })];
  [[], ...stolen].forEach((steals, seq) => {
    const first = stolen.slice(0, seq - 1).flat().length;
    store.append(smallBatch({ seq, nowS: 10, groups: [{ name: 'f', prefix: 'f', colour: 0 }], lanes, runs, tables: tables(first, steals) }));
  });
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['workers'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS, firstRun: 0, lastRun: 0 });
  vi.runOnlyPendingTimers();
  return el;
}

const cells = (table: Element): string[][] => [...table.querySelectorAll('tr')].map(tr => [...tr.children].map(({ textContent }) => textContent));

const squares = (el: HTMLElement): unknown[] => [...el.querySelectorAll('.tsk-pairs')].map(chart => [chart.querySelector('div')?.textContent, ...cells(chart)]);

const table = (el: HTMLElement, begin: string): string[][] =>
  [...el.querySelectorAll('.tsk-text-table table')].filter(({ textContent }) => textContent.startsWith(begin)).flatMap(cells);

const titles = (el: HTMLElement): string[] => [...el.querySelectorAll('.tsk-pairs td[style]')].map(td => td.getAttribute('title') ?? '');

it('shows which worker fetched how much from which, and how fast: what a compute moved, between two, of known size', () => {
  const el = mounted(3, [
    { from: 2, to: 0, nbytes: 3e6, durationS: 0.01 }, { from: 2, to: 0, nbytes: 1e6, durationS: 0.03 }, { from: 2, to: 0, durationS: 5 },
    { from: 0, to: 1, nbytes: 5e6, durationS: 0.01 }, { from: 1, to: 2, durationS: 1 },
    { from: 1, to: 1, nbytes: 7, durationS: 1 }, { from: null, to: 1, nbytes: 7, durationS: 1 }, { from: 0, to: 2, nbytes: 7, durationS: 1, run: 1 }
  ]);
  expect(squares(el)).toEqual([['Fetched from other workers for tasks: 9 MB in 5 transfers',
    ['from, to', '0', '1', '2'], ['worker 0', '', '500 MB/s', ''], ['worker 1', '', '', '–'], ['worker 2', '100 MB/s', '', '']
  ]]);
  expect(table(el, 'Fetched')).toEqual([
    ['From', 'To', 'Transfers', 'Bytes', 'A transfer', 'Rate'],
    ['worker 0', 'worker 1', '1', '5 MB', '10 ms', '500 MB/s'],
    ['worker 2', 'worker 0', '3', '4 MB', '20 ms', '100 MB/s'],
    ['worker 1', 'worker 2', '1', '–', '–', '–']
  ]);
  expect(titles(el)[2]).toBe('worker 2 → worker 0\nTransfers: 3\nBytes: 4 MB\nA transfer: 20 ms\nRate: 100 MB/s');
});

it('shows whose tasks went to which worker, when, and what they would have taken, over all messages', () => {
  const el = mounted(2, [],
    [{ fromWorker: address(1), toWorker: address(0), outcome: 'stolen', timeS: 1.5, costS: 0.25 }],
    [
      { fromWorker: address(1), toWorker: address(0), outcome: 'stolen', timeS: 2.5, costS: 0.5 },
      { fromWorker: address(1), toWorker: address(0), outcome: 'refused', timeS: 3, costS: 4 },
      { fromWorker: address(1), toWorker: 'tcp://gone:1', outcome: 'rescheduled', timeS: 3 },
      { fromWorker: address(1), toWorker: address(0), outcome: 'stolen', timeS: 9.5, costS: 1, run: 1 }
    ]);
  expect(squares(el)).toEqual([['Work stealing: 2 tasks moved, 2 not', ['from, to', 'gone:1', '0'], ['worker 1', '0', '2']]]);
  expect(table(el, 'Work stealing')).toEqual([
    ['From', 'To', 'Moved', 'Not', 'Expected to take', 'First at', 'Last at'],
    ['worker 1', 'worker 0', '2', '1', '750 ms', '1.5 s', '3 s'],
    ['worker 1', 'tcp://gone:1', '0', '1', '0 s', '3 s', '3 s']
  ]);
});

it('of very many workers those that moved most have rows and columns, and the others one', () => {
  const el = mounted(40, Array.from({ length: 39 }, (_, i) => ({ from: 39, to: i, nbytes: 1e6 * (i + 1), durationS: 1 })));
  const [[caption, head, row]] = squares(el) as [[string, string[], string[]]];
  expect([caption, head, row]).toEqual([
    'Fetched from other workers for tasks: 780 MB in 39 transfers',
    ['from, to', ...Array.from({ length: 14 }, (_, i) => `${i + 25}`), 'others'],
    ['worker 39', ...Array.from({ length: 14 }, (_, i) => `${i + 26} MB/s`), '13 MB/s']
  ]);
  expect(table(el, 'Fetched')).toHaveLength(40);
});

it('draws nothing where nothing went between workers', () => {
  const el = mounted(2, []);
  expect([squares(el), table(el, 'Fetched'), table(el, 'Work stealing')]).toEqual([[], [], []]);
});
