import { expect, it, vi } from 'vitest';

import { CLUSTER_CHARTS } from '../../../src/charts/cluster/layer';
import { mountTracks } from '../../../src/charts/tracks';
import { ClusterStore, TaskStore } from '../../../src/store';
import { sectionOf, smallBatch, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

const worker = 'tcp://w:1';
const line = (timeS: number, text: string, of: string | null = worker): object => ({ timeS, worker: of, level: 'warning', text });

it('shows what the scheduler and its workers logged during a compute: the last lines, and all in a table', () => {
  fakeTime();
  const store = new TaskStore({ cluster: new ClusterStore() });
  const runs = [smallRun({ status: 'finished', startS: 1, stopS: 4 }), smallRun({ run: 1, startS: 9 })];
  const workers = sectionOf('workers', [{ worker: 0, name: 'w-1', address: worker, nThreads: 1 }]);
  const early = [line(0.5, 'of an earlier one'), ...[1, 2, 3].map(at => line(1 + at / 10, `slow ${at}`))];
  store.append(smallBatch({ nowS: 10, runs, tables: { workers, logs: sectionOf('logs', early) } }));
  const late = [line(3.5, 'full'), line(2, 'lost <b>', null), line(3, 'of one that is gone', 'tcp://gone:1'), line(9.5, 'of a later one')];
  store.append(smallBatch({ seq: 1, nowS: 10, tables: { logs: sectionOf('logs', late, early.length) } }));
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['workers'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS, firstRun: 0, lastRun: 0 });
  vi.runOnlyPendingTimers();
  vi.useRealTimers();

  const texts = (parts: Iterable<Element>): string[] => [...parts].map(({ textContent }) => textContent);
  expect(texts((el.querySelector('.tsk-logs') as Element).children)).toEqual([
    'Logged warnings and errors: 6',
    '200 ms · worker w-1 · slow 2', '300 ms · worker w-1 · slow 3', '1 s · scheduler · lost <b>', '2 s · tcp://gone:1 · of one that is gone', '2.5 s · worker w-1 · full'
  ]);
  const table = [...el.querySelectorAll('.tsk-text-table table')].find(({ textContent }) => textContent.startsWith('Logged'));
  expect([...(table as Element).querySelectorAll('tr')].map(tr => texts(tr.children)).slice(0, 2)).toEqual([
    ['Time', 'Of', 'Level', 'Text'], ['100 ms', 'worker w-1', 'warning', 'slow 1']
  ]);
});
