import { deflateSync } from 'node:zlib';

import { expect, it, vi } from 'vitest';

import { TimeAxis } from '../../../src/charts/timeline/time';
import type { Shown } from '../../../src/hosts/report/show';
import { showFlames } from '../../../src/hosts/report/show-flames';
import { smallBatch, smallRun } from '../../charts/small-batch';
import { wireOf } from '../../charts/flame/flame-data';
import { embed, emptyPages, picture } from './page';
import { storeWith } from '../../store/rows';

const page = emptyPages();

/** What is shown in the page: one compute from 100 s to 101 s. */
function reports(): Promise<Shown[]> {
  const store = storeWith(smallBatch({ nowS: 101, active: false, runs: [smallRun({ startS: 100, stopS: 101, status: 'finished' })] }));
  return Promise.resolve([{ store, axis: new TimeAxis(false) }]);
}

/** A profile as Python writes it into a page. */
function profile(change: Record<string, unknown> = {}): string {
  const { columns, ...plain } = wireOf([{ stack: ['<b>f</b>', 'g'], seconds: 3, prefix: '<i>x' }, { stack: [], seconds: 1, prefix: 'y' }]);
  const bytes = new Uint8Array((columns as DataView).buffer);
  const data = deflateSync(bytes).toString('base64');
  return JSON.stringify({ ...plain, data, bytes: bytes.length, ...change });
}

/** A section with a picture and the data below it. */
function sectionOf(text: string): { section: HTMLElement; folded: HTMLDetailsElement } {
  const section = document.createElement('section');
  const folded = picture(section);
  embed('taskscope-profile', text, section);
  document.body.append(section);
  return { section, folded };
}

it('shows the profile in front of its picture, which is folded away, and hostile names as text', async () => {
  const { section, folded } = sectionOf(profile());
  await showFlames(page.signal, reports());
  await new Promise(requestAnimationFrame);
  const view = folded.previousElementSibling;
  expect(view?.className).toBe('taskscope-view');
  expect(view?.querySelector('.tsk-flame-sum')?.textContent).toBe('400 samples, about 4 s in tasks');
  expect([...(view?.querySelectorAll('option') ?? [])].map(option => option.textContent)).toEqual(['all task types', '<i>x', 'y']);
  expect([...(view?.querySelectorAll('.tsk-flame tbody tr') ?? [])].map(row => row.textContent)).toEqual(['g3 s75%g.py:1', 'tasks: y1 s25%C code that Dask called']);
  expect(section.querySelectorAll('b, i').length).toBe(0);
  expect(folded.open).toBe(false);
  page.leave();
  expect(section.querySelectorAll('.tsk-flame').length).toBe(0);
});

it.each([
  ['no JSON', 'oops', 'SyntaxError'],
  ['no base64', profile({ data: 7 }), 'WireError: profile.data must be base64, got 7'],
  ['no size', profile({ bytes: -1 }), 'WireError: profile.bytes must be a whole number, 0 or more'],
  ['a prefix missing', profile({ prefixes: ['y'] }), 'WireError: profile must be rows of known prefixes']
])('leaves a page alone whose profile has %s, and tells its console', async (_, text, error) => {
  const reported = vi.fn();
  vi.stubGlobal('reportError', reported);
  const { section, folded } = sectionOf(text);
  await showFlames(page.signal, reports());
  expect(section.querySelectorAll('.taskscope-view').length).toBe(0);
  expect(folded.open).toBe(true);
  expect(reported.mock.calls.map(([reason]) => String(reason).slice(0, error.length))).toEqual([error]);
});
