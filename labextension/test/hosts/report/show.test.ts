import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';

import { storeFrom } from '../../../src/hosts/report/data';
import { type Shown, showReports } from '../../../src/hosts/report/show';
import { readFrame } from '../../../src/wire/frames';
import { wireMessage } from '../../wire/wire-fixture';
import { embed, emptyPages, picture } from './page';
import { TimeAxis } from '../../../src/charts/timeline/time';
import { showFlames } from '../../../src/hosts/report/show-flames';
import { smallBatch, smallRun } from '../../charts/small-batch';
import { wireOf } from '../../charts/flame/flame-data';
import { storeWith } from '../../store/rows';

const FIXTURE = join(import.meta.dirname, '../../../../tests/fixtures/report/dense.json');

interface Data {
  bytes: number;
  data: string;
}

const fixture = (): Data => JSON.parse(readFileSync(FIXTURE, 'utf8')) as Data;

/** The fixture with some of it changed, as Python writes it into a page. */
function changed(change: (data: Data) => void): string {
  const data = fixture();
  change(data);
  return JSON.stringify(data);
}

/** The fixture with other frames, whose size is told right. */
function packed(change: (frames: Uint8Array) => Uint8Array): string {
  const frames = change(inflateSync(Buffer.from(fixture().data, 'base64')));
  return changed(data => Object.assign(data, { bytes: frames.length, data: deflateSync(frames).toString('base64') }));
}

function flipped(frames: Uint8Array): Uint8Array {
  const changed = frames.slice();
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}

const withoutFirst = (frames: Uint8Array): Uint8Array => frames.subarray(readFrame(frames, 0)?.end);

const page = emptyPages();

it('reads every task of the page as it was recorded', async () => {
  const { store } = await storeFrom(JSON.stringify(fixture()));
  const tasks = store.laneIds.flatMap(lane =>
    Array.from({ length: store.lane(lane)?.n ?? 0 }, (_, i) => {
      const task = store.detail(lane, i);
      const round = (value: number | null | undefined): number | null => (value === null || value === undefined ? null : Math.round(value * 1e6) / 1e6);
      return [lane, task?.key, round(task?.startS), round(task?.stopS), round(task?.cpuS), task?.status, task?.observedBy];
    })
  );
  expect(tasks).toEqual([
    [0, "('inc-1', 0, 7)", 0.5, 1, 0.25, 'finished', 'worker'],
    [0, "('inc-1', 0, 8)", 1.25, 2, 0.75, 'finished', 'worker'],
    [0, "('inc-1', -70000, 2000000000)", 2, 2.000001, null, 'finished', 'worker'],
    [1, "('add-1',)", 0, 3, null, 'erred', 'worker'],
    [1, '<b>ünï', 3, 3.5, null, 'interrupted', 'worker'],
    [1, "('add-1', 5)", 5000, 9500, null, 'finished', 'scheduler'],
    [2, "('add-1', 6)", 9000, 9400, null, 'lost', 'worker']
  ]);
  expect([0, 1].map(i => store.detail(0, i)?.sizeBytes?.toFixed(0))).toEqual(['8', '8']);
});

it('tells what a task of the page needs and what needs it, where its graph is known', async () => {
  const { store } = await storeFrom(JSON.stringify(fixture()));
  const ends = async (row: number): Promise<unknown> => {
    expect(store.links(row)).toEqual({ kind: 'asked', isLate: false });
    await vi.waitFor(() => { expect(store.links(row).kind).not.toBe('asked'); }, 60_000);
    const links = store.links(row);
    return links.kind === 'known'
      ? [links.dependencies.map(({ place }) => place?.row), links.nDependencies, links.dependents.map(({ place }) => place?.row), links.nDependents]
      : links.kind;
  };
  expect([await ends(0), await ends(1), await ends(2), await ends(3), await ends(5)]).toEqual([
    [[], 0, [1, 2], 2],
    [[0], 1, [2], 1],
    [[0, 1], 2, [], 0],
    [[], 0, [], 0],
    [[4], 1, [], 0]
  ]);
  expect(store.links(6)).toEqual({ kind: 'asked', isLate: false });
  await vi.waitFor(() => { expect(store.links(6)).toEqual({ kind: 'unknown' }); }, 60_000);
});

it('reads the critical path of the page, tasks by their rows', async () => {
  const { path } = await storeFrom(JSON.stringify(fixture()));
  expect(path).toEqual({
    path: [
      { kind: 'task', startS: 0, stopS: 1, prefix: 'add', row: 3 }, { kind: 'task', startS: 1, stopS: 1, prefix: 'b>ünï', row: 4 },
      { kind: 'task', startS: 1, stopS: 1, prefix: 'add', row: 5 }
    ]
  });
});

it('reads why there is no path', async () => {
  const frames = new Uint8Array(wireMessage([]).buffers[0] as ArrayBuffer);
  const found = await Promise.all(['too many', null].map(async reason => {
    const data = { bytes: frames.length, data: deflateSync(frames).toString('base64'), no_path: reason };
    return (await storeFrom(JSON.stringify(data))).path;
  }));
  expect(found).toEqual([{ reason: 'too many' }, null]);
});

it('shows hostile keys as text, in the place the page has for it, and folds the picture away', async () => {
  const place = document.createElement('div');
  place.className = 'taskscope-place';
  document.body.append(place);
  const details = picture();
  embed('taskscope-data', JSON.stringify(fixture()));
  await showReports(page.signal);
  const view = place.querySelector('.taskscope-view');
  expect(view?.querySelectorAll('.tsk-dashboard').length).toBe(1);
  expect(view?.querySelectorAll('script, img, iframe, b').length).toBe(0);
  expect(details.open).toBe(false);
});

it('stands right below the data where there is no place for it', async () => {
  const data = embed('taskscope-data', JSON.stringify(fixture()));
  await showReports(page.signal);
  expect(data.nextElementSibling?.className).toBe('taskscope-view');
});

it.each([
  ['no JSON', 'oops', 'SyntaxError'],
  ['no data', '[]', 'WireError: data must be an object, got an array of 0'],
  ['no base64', changed(d => Object.assign(d, { data: 7 })), 'WireError: data.data must be base64, got 7'],
  ['no size', changed(d => Object.assign(d, { bytes: -1 })), 'WireError: data.bytes must be a whole number, 0 or more'],
  ['rows that do not unpack', changed(d => Object.assign(d, { data: 'AAAA' })), 'WireError: frame must be deflated bytes'],
  ['more rows than it says', changed(d => Object.assign(d, { bytes: 1 })), 'WireError: frame must be 1 bytes unpacked'],
  ['fewer rows than it says', changed(d => Object.assign(d, { bytes: 1e5 })), 'WireError: frame must be 100000 bytes unpacked'],
  ['a frame that is cut off', packed(frames => frames.subarray(0, -1)), 'WireError: buffers must be whole frames'],
  ['a bit that flipped', packed(flipped), 'WireError: frame must be content with its checksum'],
  ['a frame missing', packed(withoutFirst), 'WireError: data.data must be all frames of a stream']
])('leaves a page alone whose data has %s, and tells its console', async (_, text, error) => {
  const reported = vi.fn();
  vi.stubGlobal('reportError', reported);
  embed('taskscope-data', text);
  await showReports(page.signal);
  expect(document.querySelectorAll('.taskscope-view').length).toBe(0);
  expect(reported.mock.calls.map(([reason]) => String(reason).slice(0, error.length))).toEqual([error]);
});

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
