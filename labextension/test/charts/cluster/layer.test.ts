import { beforeEach, expect, it, vi } from 'vitest';

import { CLUSTER_CHARTS, building } from '../../../src/charts/cluster/layer';
import { KIND_STYLES, paintStrip } from '../../../src/charts/cluster/kinds';
import { mountTracks } from '../../../src/charts/tracks';
import { type Painting, type Scene, layoutLanes } from '../../../src/charts/tasks/scene';
import { type CoverageColumns, ClusterStore, TaskStore, ALL_RUNS } from '../../../src/store';
import { ACTIVITIES } from '../../../src/wire';
import { documentStore } from '../../files/documents';
import { batchOf, storeWith } from '../../store/rows';
import { sectionOf, smallProgress, smallRun, smallBatch } from '../small-batch';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

/** What is drawn on lanes, and three seconds of them. */
const layerOf = (store: TaskStore) => CLUSTER_CHARTS.layer({ store, runRange: ALL_RUNS, request: () => undefined });
const sceneOf = (...lanes: Scene['lanes']): Scene => ({ span: { startS: 0, stopS: 3 }, zeroS: 0, runs: null, lanes, nowS: 3, paused: false } as Partial<Scene> as Scene);

const BELOW = 0xff101010;
const STYLES = ACTIVITIES.map(kind => KIND_STYLES[kind]);

function painted(shares: readonly number[], kinds: readonly number[], isBack = false): number[][] {
  const width = shares.length;
  const pixels = new Uint32Array(width * 14).fill(BELOW);
  const coverage = { cover: Float32Array.from(shares), prefix: Uint16Array.from(kinds) } as Partial<CoverageColumns> as CoverageColumns;
  paintStrip(pixels, width, { top: 1, height: 12, ratio: 1 }, coverage, { dark: false, paper: [255, 255, 255], styles: STYLES, isBack });
  return Array.from({ length: width }, (_, x) => Array.from({ length: 14 }, (_, y) => pixels[y * width + x] as number));
}

it('leaves the upper part of a bar as it is, and a column without any activity', () => {
  const [full, none] = painted([1, 0], [0, 65535]);
  expect(none).toEqual(new Array(14).fill(BELOW));
  expect(full?.slice(0, 8)).toEqual(new Array(8).fill(BELOW));
  expect(full?.[13]).toBe(BELOW);
  expect(new Set(full?.slice(8, 13)).size).toBeGreaterThan(1);
});

it('steps back while tasks are looked for', () => {
  const reds = (isBack: boolean): number[] => (painted([1], [0], isBack)[0] ?? []).map(pixel => pixel & 255);
  const expected = reds(false).map(red => Math.round(0x10 + (red - 0x10) * 0.3));
  expect(reds(true)).toEqual(expected);
});

it('paints each kind with a pattern of its own, so that none needs its colour to be known', () => {
  const patterns = ACTIVITIES.map(kind => {
    const { isOn } = KIND_STYLES[kind];
    return Array.from({ length: 144 }, (_, i) => (isOn(i % 12, Math.floor(i / 12)) ? '#' : '.')).join('');
  });
  const [transfer, read, write, deserialize, serialize, other, failed] = patterns;
  expect(new Set([transfer, read, write, deserialize, other, failed]).size).toBe(6);
  expect(serialize).toBe(deserialize);
});

it('draws a failed attempt as high as a bar where it took all of the time, and else below the tasks that it shares a column with', () => {
  const failed = ACTIVITIES.indexOf('failed-attempt');
  const [full, part] = painted([1, 0.01], [failed, failed]);
  const changed = (column: number[] | undefined): number[] => (column ?? []).flatMap((pixel, y) => (pixel === BELOW ? [] : [y]));
  expect(changed(full)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  // Above the strip a hundredth of a column is a hundredth of its colour.
  const shades = (part ?? []).slice(1, 8).map(pixel => Math.abs((pixel & 255) - 0x10));
  expect(Math.max(...shades)).toBeLessThanOrEqual(3);
  expect(changed(part)).toEqual(expect.arrayContaining([8, 9, 10, 11, 12]));
});

it('tells what a failed attempt raised, and that it counts for nothing else', async () => {
  const store = await documentStore('cluster');
  const layer = layerOf(store);
  const scene = sceneOf({ id: 2, label: 'worker 7, thread 1', worker: '' });
  const row = { kind: 'lane', id: 2, label: 'thread 1', inset: true } as const;
  const layout = layoutLanes([row], { plotLeftPx: 100, plotWidthPx: 300, scrollPx: 0 });
  expect(layer?.hit(scene, layout, { xPx: 290, yPx: 6 }, false)).toEqual({
    kind: 'facts',
    colour: 'rgb(48 0 8)',
    facts: {
      key: 'failed attempt',
      rows: [
        ['Activity', 'failed attempt'], ['Error', 'ValueError: no luck (attempt 1)'], ['For', 'load'],
        ['Thread', 'worker 7, thread 1'], ['Start', '1.75 s'], ['Duration', '250 ms']
      ],
      note: 'The task was tried again: its bar is its last attempt. This one counts neither as a task nor as computing.'
    }
  });
});

it('a short transfer is not lost among what was computed', () => {
  const [faint, strong] = painted([0.01, 1], [0, 0]);
  const [weak, full] = [faint?.[10], strong?.[10]].map(pixel => (pixel as number) & 255);
  expect(weak).toBeGreaterThan(0x10 + 60);
  expect(weak).toBeLessThan(full as number);
});

async function mounted(from: string | TaskStore): Promise<HTMLElement> {
  const store = typeof from === 'string' ? await documentStore(from) : from;
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['tasks'], { signal: new AbortController().signal, clusters: CLUSTER_CHARTS });
  vi.runOnlyPendingTimers();
  return el;
}

it('names what there is in a legend and a table, and says what busy counts', async () => {
  const el = await mounted('cluster');
  const legend = [...el.querySelectorAll('.tsk-activities li')].map(li => li.textContent);
  expect(legend).toEqual([
    'transfer2 · 8 MB', 'read from disk1', 'written to disk1', 'deserialized1', 'serialized1', 'other1', 'failed attempt1',
    'busy counts computing only; the longest are shown, 4 are not'
  ]);
  const rows = [...el.querySelectorAll('.tsk-gantt-tables table:last-child tbody tr')].map(tr => [...tr.children].map(td => td.textContent));
  expect(rows[0]).toEqual(['transfer', '2', '750 ms', '8 MB']);
  expect([...el.querySelectorAll('.tsk-gantt-worker')].map(button => button.getAttribute('title'))).toEqual([
    'worker a: collapse its 2 threads', 'worker 7: collapse its 2 threads'
  ]);
});

it('tells the bytes of a transfer, where they came from, and how fast', async () => {
  const store = await documentStore('cluster');
  const layer = layerOf(store);
  const scene = sceneOf({ id: 1, label: 'worker a, thread 2', worker: '' });
  const row = { kind: 'lane', id: 1, label: 'thread 2', inset: true } as const;
  const layout = layoutLanes([row], { plotLeftPx: 100, plotWidthPx: 300, scrollPx: 0 });
  const at = (timeS: number, yPx: number, onTask: boolean): unknown => layer?.hit(scene, layout, { xPx: 100 + timeS * 100, yPx }, onTask);
  expect(at(1.9, 24, true)).toEqual({
    kind: 'facts',
    colour: 'rgb(208 16 32)',
    facts: {
      key: 'transfer',
      rows: [
        ['Activity', 'transfer'], ['From', 'worker 7 (tls://10.0.0.2:4002)'], ['Bytes', '8 MB'], ['For', 'add'],
        ['Thread', 'worker a, thread 2'], ['Start', '1.5 s'], ['Duration', '500 ms'], ['Rate', '16 MB/s']
      ],
      note: 'Data may be needed by several tasks: the scheduler names one of them.'
    }
  });
  // The upper part of a bar is the task's, where there is one.
  expect([at(1.9, 6, true), at(1.9, 6, false) === null, at(0.5, 24, false)]).toEqual([null, false, null]);
});

it('hides with a prefix what was done for its tasks', async () => {
  const store = await documentStore('cluster');
  const layer = layerOf(store);
  const scene = sceneOf();
  const row = { kind: 'lane', id: 1, label: 'worker a, thread 2', inset: true } as const;
  const layout = layoutLanes([row], { plotLeftPx: 100, plotWidthPx: 300, scrollPx: 0 });
  const hidden = new Uint8Array(store.tables.prefixes.length);
  hidden[store.tables.prefixId('add')] = 1;
  const shown = [null, hidden, null].map(prefixes => {
    const pixels = new Uint32Array(300 * 40).fill(BELOW);
    const theme = { dark: false, lane: '#ffffff' } as Partial<Painting['theme']> as Painting['theme'];
    const painting = { layout, scene, theme, filter: { hidden: prefixes, focus: -1 } } as Partial<Painting> as Painting;
    layer?.draw(pixels, 300, painting, 1);
    const found = layer?.hit(scene, layout, { xPx: 290, yPx: 24 }, true) ?? null;
    return [pixels.some(pixel => pixel !== BELOW), found !== null];
  });
  expect(shown).toEqual([[true, true], [false, false], [true, true]]);
});

it('a kind is hidden and shown by its button', async () => {
  const el = await mounted('cluster');
  const button = el.querySelector<HTMLElement>('[data-kind=transfer]');
  const states = [1, 2, 3].map(() => {
    const state = [button?.getAttribute('aria-pressed'), button?.title];
    button?.click();
    vi.runOnlyPendingTimers();
    return state;
  });
  expect(states).toEqual([
    ['true', 'transfer: 750 ms in all; press to hide'], ['false', 'transfer: hidden, press to show'], ['true', 'transfer: 750 ms in all; press to hide']
  ]);
});

it('marks what happened to a worker in the rows of its lanes, and says it there', async () => {
  const [own, other] = ['tcp://10.0.0.1:4001', 'tls://10.0.0.2:4002'];
  const store = await documentStore('cluster', { messages: sectionOf('messages', [
    { timeS: 0.25, level: 'warning', text: 'worker a paused', worker: own, event: 'paused' },
    { timeS: 0.5, level: 'info', text: 'worker a runs again', worker: own, event: 'resumed' },
    { timeS: 0.25, level: 'warning', text: 'worker 7 died', worker: other, event: 'died' },
    { timeS: 0.25, level: 'warning', text: 'of nobody', worker: null, event: null }
  ]) });
  const layer = layerOf(store);
  const scene = sceneOf();
  const rows = [{ kind: 'worker', worker: own, label: 'worker a', lanes: [0, 1], collapsed: false }, { kind: 'lane', id: 0, label: 'thread 1', inset: true }] as const;
  const layout = layoutLanes(rows, { plotLeftPx: 100, plotWidthPx: 300, scrollPx: 0 });
  const theme = { dark: false, lane: '#ffffff', error: '#d60000', ink: '#102030' } as Partial<Painting['theme']> as Painting['theme'];
  const painting = { layout, scene, theme, filter: { hidden: null, focus: -1 } } as Partial<Painting> as Painting;
  const pixels = new Uint32Array(300 * 20).fill(BELOW);
  layer?.draw(pixels, 300, painting, 1);
  const row = [...pixels.subarray(300, 600)];
  expect(row.flatMap((pixel, x) => (pixel === BELOW ? [] : [[x, pixel.toString(16)]]))).toEqual([
    [24, 'ff0000d6'], [25, 'ff0000d6'], [49, 'ff302010'], [50, 'ff302010']
  ]);
  const at = (xPx: number, yPx: number): unknown => layer?.hit(scene, layout, { xPx, yPx }, true);
  const said = (key: string, ...rows: string[][]): object => ({ kind: 'facts', facts: { key, rows, note: null }, colour: null });
  expect(at(126, 5)).toEqual(said('worker a', ['at 250 ms', 'worker a paused']));
  expect(at(148, layout.rowPx + 5)).toEqual(said('thread 1', ['at 500 ms', 'worker a runs again']));
  expect(at(180, 5)).toBe(null);
});

it('says nothing of activities where there are none', async () => {
  const el = await mounted(storeWith(batchOf([{ start: 0, stop: 1 }]), { cluster: new ClusterStore() }));
  expect(el.querySelector<HTMLElement>('.tsk-activities')?.hidden).toBe(true);
});

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
