import { beforeEach, describe, expect, it, vi } from 'vitest';

import { activitiesIn, rangeLines, residentIn } from '../../../src/charts/cluster/layer';
import { type RangeNumbers, numbersOf } from '../../../src/charts/tasks/range';
import { Folding, LaneList } from '../../../src/charts/tasks/rows';
import { findingsOf } from '../../../src/charts/tasks/why/findings';
import { type Scene, sceneOf } from '../../../src/charts/tasks/scene';
import { shownTime } from '../../../src/charts/timeline/time';
import { type TracksOptions, mountTracks } from '../../../src/charts/tracks';
import type { Span } from '../../../src/lib/span';
import { type RunRange, ALL_RUNS, ClusterStore, HeldMoments, type TaskStore } from '../../../src/store';
import type { CriticalPath, Explained, KnownPath } from '../../../src/wire';
import { type Row, batchOf, storeWith } from '../../store/rows';
import { heldColumns, resourceColumns } from '../../store/series';
import { type SmallBatch, sectionOf, sectionsOf, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

const INC = { group: 0 };
const [ADD, SUM] = [{ group: 1 }, { group: 2 }];
/** Two lanes in ten seconds; the sum runs inside of the add. */
const ROWS: Row[] = [
  { start: 0, stop: 2, ...INC }, { start: 3, stop: 6, ...ADD }, { start: 4, stop: 5, ...SUM },
  { lane: 1, start: 1, stop: 4, ...INC }, { lane: 1, start: 5, stop: 9, ...INC }, { lane: 1, start: 9, stop: 10, ...SUM }
];
/** Begins with a wait; the add on it was cut short by what came next. */
const PATH: CriticalPath = [
  { kind: 'wait', startS: 0, stopS: 1, cause: 'graph' }, { kind: 'task', startS: 1, stopS: 4, prefix: 'inc', row: 3 },
  { kind: 'task', startS: 4, stopS: 5, prefix: 'add', row: 1 }, { kind: 'task', startS: 5, stopS: 9, prefix: 'inc', row: 4 },
  { kind: 'wait', startS: 9, stopS: 9.5, cause: 'dispatch' }, { kind: 'wait', startS: 9.5, stopS: 10, cause: 'results' }
];
const UNKNOWN = { reason: 'nobody asked' };
const OVER: Partial<SmallBatch> = {
  runs: [smallRun({ startS: 0, stopS: 10, status: 'finished' })], nowS: 20, active: false,
  resources: resourceColumns([{ at: 1, rss: 9e9 }, { at: 2, rss: 1e9 }, { at: 3, rss: 3e9 }, { at: 6, rss: 8e9 }]),
  held: heldColumns([{ at: 0.5, keys: 1, bytes: 100 }, { at: 2, keys: 3, bytes: 500 }, { at: 4, keys: 2, bytes: 200 }, { at: 7, keys: 9, bytes: 900 }])
};

function storeOf(rows: readonly Row[], batch: Partial<SmallBatch>): TaskStore {
  const store = storeWith(batchOf(rows, batch), { clockMs: () => 0 });
  return store;
}

function sceneIn(store: TaskStore): Scene {
  const lanes = new LaneList(store, new Folding());
  return sceneOf(store, ALL_RUNS, shownTime(store, ALL_RUNS, { kind: 'fit' })!, (...of) => lanes.refresh(...of));
}

function numbersIn(store: TaskStore, range: Span, path: KnownPath, runRange: RunRange = ALL_RUNS, scene = sceneIn(store)): RangeNumbers | null {
  return numbersOf(store, runRange, scene, range, { moments: new HeldMoments(store.held, runRange, 'bytes'), path });
}

describe('the numbers of a range', () => {
  it('cut tasks at both ends, and count time in which several ran in a lane once', () => {
    const store = storeOf(ROWS, OVER);
    expect(numbersIn(store, { startS: 1.5, stopS: 5.5 }, { path: PATH })).toEqual({
      span: { startS: 1.5, stopS: 5.5 },
      types: [{ prefix: 'inc', n: 3, seconds: 3.5 }, { prefix: 'add', n: 1, seconds: 2.5 }, { prefix: 'sum', n: 1, seconds: 1 }],
      nTasks: 5, taskS: 7, nLanes: 2, busyS: 6, idleS: 2, residentBytes: 3e9, held: { bytes: 500, isAtLeast: false },
      path: { nTasks: 3, taskS: 4, prefixS: new Map([['inc', 3], ['add', 1]]), waitsS: [] }
    });
  });

  it('are of the whole where the range is, and of what was computed where it is wider', () => {
    const store = storeOf(ROWS, OVER);
    expect(numbersIn(store, { startS: -5, stopS: 50 }, { path: PATH })).toEqual({
      span: { startS: 0, stopS: 10 },
      types: [{ prefix: 'inc', n: 3, seconds: 9 }, { prefix: 'add', n: 1, seconds: 3 }, { prefix: 'sum', n: 2, seconds: 2 }],
      nTasks: 6, taskS: 14, nLanes: 2, busyS: 13, idleS: 7, residentBytes: 9e9, held: { bytes: 900, isAtLeast: false },
      path: { nTasks: 3, taskS: 8, prefixS: new Map([['inc', 7], ['add', 1]]), waitsS: [['graph', 1], ['dispatch', 0.5], ['results', 0.5]] }
    });
  });

  it('count what runs until now, beside what ended below it', () => {
    const store = storeOf([{ start: 0, stop: 5.5, ...INC }, { lane: 1, start: 6.5, stop: 7, ...SUM }], {
      runs: [smallRun({ startS: 0 })], nowS: 8, active: true, running: [{ run: 0, lane: 1, group: 1, keyText: 'x', startS: 6 }]
    });
    expect(numbersIn(store, { startS: 5, stopS: 20 }, UNKNOWN)).toEqual({
      span: { startS: 5, stopS: 8 },
      types: [{ prefix: 'add', n: 1, seconds: 2 }, { prefix: 'inc', n: 1, seconds: 0.5 }, { prefix: 'sum', n: 1, seconds: 0.5 }],
      nTasks: 3, taskS: 3, nLanes: 2, busyS: 2.5, idleS: 3.5, residentBytes: null, held: null, path: UNKNOWN
    });
  });

  it('say of what was held before, that it was held; of unknown sizes, that there was more; and nothing where nothing was computed', () => {
    const held = heldColumns([{ at: 1, keys: 5, bytes: 700 }, { at: 4, keys: 6, bytes: 100, unsized: 1 }, { at: 8, keys: 0 }]);
    const store = storeOf(ROWS, { ...OVER, held });
    const of = (startS: number, stopS: number): unknown => numbersIn(store, { startS, stopS }, UNKNOWN)?.held;
    expect([of(2, 3), of(2, 5), of(5, 6), of(8.5, 9), of(11, 12)]).toEqual([
      { bytes: 700, isAtLeast: false }, { bytes: 700, isAtLeast: true }, { bytes: 100, isAtLeast: true }, { bytes: 0, isAtLeast: false }, undefined
    ]);
  });

  it('of other computes are not counted', () => {
    const store = storeOf([...ROWS, { start: 2, stop: 3, run: 1, ...INC }], { ...OVER, runs: [...(OVER.runs ?? []), smallRun({ run: 1, startS: 2, stopS: 3, status: 'finished' })] });
    const runRange = { firstRun: 1, lastRun: 1 };
    const lanes = new LaneList(store, new Folding());
    const scene = sceneOf(store, runRange, shownTime(store, runRange, { kind: 'fit' })!, (...of) => lanes.refresh(...of));
    const found = numbersIn(store, { startS: 0, stopS: 10 }, UNKNOWN, runRange, scene);
    expect([found?.span, found?.types, found?.nLanes, found?.busyS, found?.idleS]).toEqual([{ startS: 2, stopS: 3 }, [{ prefix: 'inc', n: 1, seconds: 1 }], 1, 1, 0]);
  });
});

function clusterOf(): ClusterStore {
  const cluster = new ClusterStore();
  // Three transfers, one of them of unknown size, and one read.
  const activities = [[0, 0, 1, 1, 50], [0, 0, 4, 4, 1e6], [0, 1, 5, 1, null], [1, 1, 2, 1, 300]].map(([activity, lane, startS, durationS, nbytes]) => ({ activity, lane, startS, durationS, nbytes }));
  const samples = [[0, 1, 4e9], [1, 2, 1e9], [0, 3, 2e9], [0, 9, 9e9]].map(([worker, timeS, rssBytes]) => ({ worker, timeS, rssBytes, nThreads: 1 }));
  cluster.append(sectionsOf({ activities: sectionOf('activities', activities), worker_samples: sectionOf('worker_samples', samples) }));
  return cluster;
}

describe('the workers of a cluster in a range', () => {
  it('what they did besides tasks is cut at both ends, its bytes are not', () => {
    expect(activitiesIn(clusterOf(), null, { startS: 1.5, stopS: 6 })).toEqual([
      { kind: 'transfer', n: 3, seconds: 3.5, nbytes: 1_000_050 }, { kind: 'disk-read', n: 1, seconds: 1, nbytes: 300 }
    ]);
  });

  it('their memory is the largest sum of what they said last; it is said where nothing was sampled', () => {
    const cluster = clusterOf();
    expect([residentIn(cluster, { startS: 1.5, stopS: 6 }), residentIn(cluster, { startS: 4, stopS: 8 })]).toEqual([5e9, null]);
    expect([rangeLines(cluster, null, { startS: 1.5, stopS: 6 }), rangeLines(cluster, [1, 1], { startS: 4, stopS: 8 })]).toEqual([
      [
        'transfer: 3.5 s in 3, of 1 MB with what was moved before and after.', 'read from disk: 1 s in 1, of 300 B with what was moved before and after.',
        'Memory of all workers: 5 GB in the largest sample.'
      ],
      ['Memory of the workers: not sampled in this time.']
    ]);
  });
});

describe('a person', () => {
  beforeEach(fakeTime);

  /** A chart whose plot is 120 pixels wide from 68 on, with two lanes of 30 pixels above the ruler; 10.2 s are in sight. */
  function mounted(names: readonly ('tasks' | 'resources')[] = ['tasks'], more: Partial<TracksOptions> = {}): { el: HTMLElement; range: () => (number | undefined)[]; drag: (fromPx: number, toPx: number, yPx: number, shiftKey?: boolean) => void; press: (key: string, shiftKey?: boolean) => void; panel: () => string[] } {
    const store = storeOf(ROWS, OVER);
    const el = document.body.appendChild(document.createElement('div'));
    const chart = mountTracks(el, store, names, { signal: new AbortController().signal, lastRun: 0, ...more });
    vi.runAllTimers();
    const canvas = el.querySelector('canvas')!;
    // jsdom has none.
    canvas.setPointerCapture = () => undefined;
    return {
      el,
      range: () => (chart.timeRange() ?? []).map(timeS => Math.round(timeS * 10) / 10),
      drag: (fromPx, toPx, yPx, shiftKey = false) => {
        for (const [name, xPx] of [['pointerdown', fromPx], ['pointermove', toPx], ['pointerup', toPx]] as const) {
          canvas.dispatchEvent(Object.assign(new MouseEvent(name, { clientX: xPx, clientY: yPx, shiftKey, bubbles: true }), { pointerId: 1 }));
        }
        vi.runAllTimers();
      },
      press: (key, shiftKey = false) => {
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey }));
        vi.runAllTimers();
      },
      panel: () => {
        const panel = el.querySelector<HTMLElement>('.tsk-gantt-range');
        return panel?.hidden === false ? [...panel.querySelectorAll('p, caption, tbody tr')].map(line => [...(line.matches('tr') ? line.children : [line])].map(cell => cell.textContent).join(' | ')) : [];
      }
    };
  }

  const WHOLE = [
    '0 s to 10 s (10 s): 6 tasks', 'Busy 13 s (65%), idle 7 s, over 2 threads.', 'Memory of the process: 9 GB in the largest sample.', 'Results in memory: 900 B at their most.',
    'Who was on the longest chain is not known: no kernel works it out here; in Python, recording.critical_path() does.',
    'Tasks from 0 s to 10 s, cut at both', 'inc | 9 s | 64% | 3', 'add | 3 s | 22% | 1', 'sum | 2 s | 14% | 2'
  ];

  it('selects by a drag on the ruler or with shift, and the picture stays; without, a drag on the lanes moves it', () => {
    const { drag, panel, range } = mounted();
    const before = range();
    drag(60, 500, 65);
    const onRuler = panel();
    drag(500, 60, 5, true);
    expect([onRuler[0], panel()[0], range()]).toEqual([WHOLE[0], WHOLE[0], before]);
    drag(100, 120, 5);
    expect(panel()[0]).toBe(WHOLE[0]);
  });

  it('selects by keys, moves its ends, zooms to it, and Escape lets it go before the task', () => {
    const { el, panel, press, range } = mounted();
    press('n');
    press('x');
    expect(panel()).toEqual(WHOLE);
    // Steps are a fiftieth of what is in sight: 0.204 s; the first is within the margin behind the end.
    for (let i = 0; i < 26; i += 1) {
      press('ArrowLeft', true);
    }
    press('D', true);
    press('D', true);
    press('A', true);
    expect([panel()[0], range()]).toEqual(['204 ms to 4.9 s (4.69 s): 4 tasks', [0, 10.2]]);
    press('Escape');
    expect([panel(), el.querySelector<HTMLElement>('.tsk-gantt-card')?.hidden]).toEqual([[], false]);
    press('Escape');
    expect(el.querySelector<HTMLElement>('.tsk-gantt-card')?.hidden).toBe(true);
    press('+');
    press('x');
    press('Home');
    press('z');
    expect(range()).toEqual([1.7, 8.5]);
    [...el.querySelectorAll<HTMLButtonElement>('.tsk-gantt-range button')].find(({ textContent }) => textContent === 'Close')?.click();
    vi.runAllTimers();
    expect([panel(), document.activeElement?.tagName]).toEqual([[], 'CANVAS']);
  });

  it('is told aloud what was selected', () => {
    const { el, press } = mounted();
    press('x');
    expect([...el.querySelectorAll('.tsk-hidden[role=status]')].map(said => said.textContent)).toEqual(['selected 0 s to 10 s: 6 tasks, 65% busy']);
  });

  it.each<[string, KnownPath, string, string]>([
    ['of which it is', { path: PATH }, 'On the longest chain: 3 tasks for 8 s, waits of before the first task 1 s, dispatch 500 ms, results 500 ms.', 'sum | 2 s | 14% | 2 | –'],
    ['why it is not known', { reason: 'these computes were <b>too many' }, 'Who was on the longest chain is not known: these computes were <b>too many.', 'sum | 2 s | 14% | 2']
  ])('is told of the longest chain %s', (_, path, line, lastRow) => {
    const { panel, press } = mounted(['tasks'], { path });
    press('x');
    expect([panel()[4], panel().at(-1)]).toEqual([line, lastRow]);
  });

  it('is told of the longest chain once the kernel has answered', async () => {
    vi.spyOn(Element.prototype, 'getClientRects').mockReturnValue([new DOMRect(0, 0, 1, 1)] as unknown as DOMRectList);
    let answer: (explained: Explained) => void = () => undefined;
    const findings = findingsOf({ story: () => Promise.resolve([]), explain: () => new Promise(resolve => { answer = resolve; }) });
    const { panel, press } = mounted(['tasks'], { findings });
    press('x');
    const before = panel()[4];
    answer({ kind: 'explained', explanation: { makespanS: 10, answer: 'long-chain: up to 5 s', busy: null, findings: [], path: { path: PATH } } });
    await vi.advanceTimersByTimeAsync(50);
    expect([before, panel()[4], panel()[6]]).toEqual([
      'Who was on the longest chain is not known: the kernel has not answered yet.',
      'On the longest chain: 3 tasks for 8 s, waits of before the first task 1 s, dispatch 500 ms, results 500 ms.', 'inc | 9 s | 64% | 3 | 7 s'
    ]);
  });

  it('is explained on demand, and again when the kernel rests, as late as it says', async () => {
    const answers: Explained[] = [
      { kind: 'later', waitS: 2 }, { kind: 'explained', explanation: { makespanS: 10, answer: 'long-chain: up to 5 s', busy: null, findings: [], path: { path: PATH } } }
    ];
    const findings = findingsOf({ story: () => Promise.resolve([]), explain: (_, span) => (span === undefined ? new Promise(() => undefined) : Promise.resolve(answers.shift() ?? { kind: 'none', reason: 'too often' })) });
    const { el, press } = mounted(['tasks'], { findings });
    const said = (): (string | null | undefined)[] => [...el.querySelectorAll('.tsk-gantt-range [role=status], [role=region] [role=status]')].map(status => status.textContent).filter(text => text !== '');
    press('x');
    el.querySelector<HTMLElement>('[aria-label^="Why?"]')?.click();
    await vi.advanceTimersByTimeAsync(50);
    const first = said();
    await vi.advanceTimersByTimeAsync(2000);
    expect([first, said()]).toEqual([['no answer yet: the kernel is asked again in 2 s'], ['long-chain: up to 5 s']]);
  });

  it('zooms by the same drag where no track tells what ran', () => {
    const { drag, range } = mounted(['resources']);
    const before = range();
    drag(100, 150, 5, true);
    const [startS = 0, stopS = 0] = range();
    expect([before, startS > 0, stopS < 10]).toEqual([[0, 10.2], true, true]);
  });
});
