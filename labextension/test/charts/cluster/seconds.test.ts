import { beforeEach, expect, it, vi } from 'vitest';

import { CLUSTER_CHARTS } from '../../../src/charts/cluster/layer';
import { mountTracks } from '../../../src/charts/tracks';
import type { PrefixSeconds } from '../../../src/wire';
import { documentStore } from '../../files/documents';
import { sharedCases } from '../../shared-cases';
import { sectionOf } from '../small-batch';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

const told = (prefix: string, activity: string, seconds: number, run = 0): PrefixSeconds => ({ run, prefix, activity, seconds });

/** A cluster's chart of workers of which these seconds were told, message by message. */
async function mounted(...messages: (readonly PrefixSeconds[])[]): Promise<HTMLElement> {
  const store = await documentStore('cluster', { seconds: sectionOf('seconds') });
  messages.forEach(rows => { store.cluster?.metrics.append(rows); });
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['workers'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS, firstRun: 0, lastRun: 0 });
  vi.runOnlyPendingTimers();
  return el;
}

const bars = (el: HTMLElement): unknown[] => [...el.querySelectorAll('.tsk-seconds-row')].map(row => [
  row.querySelector('.tsk-seconds-prefix')?.textContent,
  row.querySelector('.tsk-seconds-bar')?.getAttribute('aria-label'),
  [...row.querySelectorAll<HTMLElement>('[data-part]')].map(part => [part.dataset.part, part.style.width]),
  row.querySelector('.tsk-seconds-total')?.textContent
]);

const legend = (el: HTMLElement): (string | null)[] => [...el.querySelectorAll('.tsk-seconds-legend > li')].map(entry => entry.textContent);

const table = (el: HTMLElement): (string | null)[][] => [...el.querySelectorAll('table')]
  .filter(found => found.caption?.textContent.startsWith('Where the seconds') === true)
  .flatMap(found => [...found.querySelectorAll('tbody tr')].map(tr => [...tr.children].map(td => td.textContent)));

it('each prefix has a bar of what its seconds went to, that of most seconds first; a later sum replaces the one before', async () => {
  const el = await mounted(
    [told('sum', 'thread-cpu', 1), told('load', 'thread-noncpu', 6), told('load', 'p2p-get-output-cpu', 1)],
    [told('sum', 'thread-cpu', 3), told('sum', 'disk-read', 1), told('sum', 'my own', 0.5), told('load', 'thread-cpu', 1), told('other', 'thread-cpu', 9, 1)]
  );
  expect(el.querySelector('.tsk-seconds-title')?.textContent).toBe('Where the seconds of tasks went, all workers together: 12.5 s');
  expect(bars(el)).toEqual([
    ['load', 'on the CPU 2 s, off the CPU 6 s', [['cpu', '25%'], ['off-cpu', '75%']], '8 s'],
    ['sum', 'on the CPU 3 s, read from disk 1 s, other 500 ms', [['cpu', '37.5%'], ['disk-read', '12.5%'], ['other', '6.25%']], '4.5 s']
  ]);
  expect(legend(el)).toEqual(['on the CPU5 s', 'off the CPU6 s', 'read from disk1 s', 'other500 ms']);
  expect(table(el)).toEqual([
    ['load', 'off the CPU', 'thread-noncpu', '6 s'],
    ['load', 'on the CPU', 'p2p-get-output-cpu', '1 s'],
    ['load', 'on the CPU', 'thread-cpu', '1 s'],
    ['sum', 'on the CPU', 'thread-cpu', '3 s'],
    ['sum', 'read from disk', 'disk-read', '1 s'],
    ['sum', 'other', 'my own', '500 ms']
  ]);
});

it('what is on the CPU, and what off it, is as in the summary', async () => {
  const { 'on the CPU': cases } = sharedCases('metered') as { 'on the CPU': [activity: string, isOnCpu: boolean | null][] };
  const el = await mounted(cases.map(([activity], i) => told(`f${i}`, activity, cases.length - i)));
  const said = table(el).map(([, spentOn]) => (spentOn === 'on the CPU' ? true : spentOn === 'off the CPU' ? false : null));
  expect(said).toEqual(cases.map(([, isOnCpu]) => isOnCpu));
});

it('more prefixes than have room stand in the table', async () => {
  const el = await mounted(Array.from({ length: 14 }, (_, i) => told(`f${i}`, 'thread-cpu', 100 - i)));
  expect([bars(el).length, table(el).length]).toEqual([12, 14]);
  expect(el.querySelector('.tsk-seconds')?.textContent).toContain('2 more task types are in the table');
});

it('without what workers metered there is no such chart', async () => {
  const el = await mounted();
  expect([el.querySelector('.tsk-seconds'), table(el)]).toEqual([null, []]);
});
