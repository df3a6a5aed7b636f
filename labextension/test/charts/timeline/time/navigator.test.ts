// @vitest-environment node
import { describe, expect, it, vi, beforeEach } from 'vitest';

import { type Scene, sceneOf } from '../../../../src/charts/tasks/scene';
import { Folding, LaneList } from '../../../../src/charts/tasks/rows';
import { type View, Navigator, TimeAxis, lastStretch, shownTime, ShownRuns } from '../../../../src/charts/timeline/time';
import { type RunRange, ALL_RUNS, TaskStore } from '../../../../src/store';
import type { Run } from '../../../../src/wire';
import { batchOf, storeWith } from '../../../store/rows';
import { type SmallBatch, smallRun, smallBatch } from '../../small-batch';

const BOX = { plotLeftPx: 100, plotWidthPx: 1000 };

function storeOf(runs: Run[], batch: Partial<SmallBatch> = {}): TaskStore {
  const store = new TaskStore({ clockMs: () => 0 });
  const rows = [{ start: 1, stop: 2, lane: 1 }, { start: 11, stop: 12, run: 1 }];
  store.append(batchOf(rows, { runs, nowS: 20, active: false, ...batch }));
  return store;
}

const FIT = { kind: 'fit' } as const;

function fitted(store: TaskStore, runRange: RunRange, pausedAtS: number | null = null): Scene | null {
  const lanes = new LaneList(store, new Folding());
  const frame = shownTime(store, runRange, FIT, pausedAtS);
  return frame === null ? null : sceneOf(store, runRange, frame, (...of) => lanes.refresh(...of));
}

const LANES = [{ id: 0, label: 'thread 1', worker: 'main' }, { id: 1, label: 'thread 2', worker: 'main' }];

const TWO = [smallRun({ startS: 0, stopS: 5, status: 'finished' }), smallRun({ run: 1, startS: 10, stopS: 20, status: 'finished' })];

describe('scene', () => {
  it('is nothing before the first compute', () => {
    expect(fitted(new TaskStore(), ALL_RUNS)).toBeNull();
  });

  it('shows all computes and their lanes', () => {
    const store = storeOf(TWO);
    expect(fitted(store, ALL_RUNS)).toEqual({
      lanes: LANES,
      rows: [0, 1].map(id => ({ kind: 'lane', id, label: `thread ${id + 1}`, inset: false })),
      worked: { startS: 0, stopS: 20 }, paused: false,
      bounds: { startS: 0, stopS: 20.4 }, span: { startS: 0, stopS: 20.4 },
      zeroS: 0, runs: null, open: new Map(), nowS: 20, growing: false
    });
  });

  it('of one compute has only its time and its lanes', () => {
    const scene = fitted(storeOf(TWO), { firstRun: 1, lastRun: 1 });
    expect([scene?.lanes, scene?.bounds, scene?.zeroS, scene?.runs]).toEqual([[LANES[0]], { startS: 10, stopS: 20.2 }, 10, [1, 1]]);
  });

  it('grows with the clock and lanes of tasks in flight', () => {
    const runs = [smallRun({ startS: 10, stopS: null })];
    const running = [
      { run: 0, lane: 1, group: 2, keyText: 'k', startS: 19 }, { run: 0, lane: null, group: 2, keyText: 'k', startS: 19 },
      { run: 7, lane: 0, group: 2, keyText: 'k', startS: 19 }
    ];
    const store = storeOf(runs, { active: true, running });
    const scene = fitted(store, { firstRun: 0, lastRun: 0 });
    expect([scene?.growing, scene?.nowS, scene?.bounds, scene?.open]).toEqual([
      true, 20, { startS: 10, stopS: 20.2 }, new Map([[1, [{ startS: 19, prefix: store.tables.prefixId('sum'), task: running[0] }]]])
    ]);
  });
});

it('paused time shows what was known then, and grows no more', () => {
  const store = storeOf([smallRun({ startS: 0, stopS: 5, status: 'finished' }), smallRun({ run: 1, startS: 10, stopS: null })], { active: true });
  const scene = (pausedAtS: number): unknown[] => {
    const { bounds, nowS, growing, paused } = fitted(store, ALL_RUNS, pausedAtS) ?? {};
    return [bounds, nowS, growing, paused];
  };
  expect([scene(15), scene(4)]).toEqual([[{ startS: 0, stopS: 15.3 }, 15, false, true], [{ startS: 0, stopS: 4.08 }, 4, false, true]]);
});

it('the last stretch of work ends at a long pause', () => {
  const run = (startS: number, stopS: number | null): Run => smallRun({ startS, stopS });
  expect(lastStretch([run(0, 5), run(100, 110), run(111, 112), run(113, null)], 115)).toEqual({ startS: 100, stopS: 115 });
  expect(lastStretch([run(0, 5)], 99)).toEqual({ startS: 0, stopS: 5 });
});

describe('navigator', () => {
  function navigatorOf(store: TaskStore, follow: boolean, chosen: () => void): Navigator {
    const axis = new TimeAxis(follow);
    return new Navigator(view => shownTime(store, ALL_RUNS, view, axis.pausedAtS), axis, chosen);
  }

  function made(follow: boolean): { navigator: Navigator; chosen: ReturnType<typeof vi.fn> } {
    const chosen = vi.fn();
    const navigator = navigatorOf(storeOf(TWO), follow, chosen);
    navigator.refresh();
    return { navigator, chosen };
  }

  it('follows the last stretch of work', () => {
    expect(made(true).navigator.time?.span).toEqual({ startS: 10, stopS: 20.2 });
  });

  it('zooms around the pointer and pans from there, before any frame', () => {
    const { navigator, chosen } = made(false);
    navigator.zoom(0.5, 600, BOX);
    expect(navigator.time?.span).toEqual({ startS: 5.1, stopS: 15.299999999999999 });
    navigator.pan(100, BOX);
    expect(navigator.time?.span.startS).toBeCloseTo(6.12, 9);
    expect(chosen).toHaveBeenCalledTimes(2);
  });

  it('zooming out to everything shows everything from then on', () => {
    const { navigator, chosen } = made(false);
    navigator.zoom(0.5, 600, BOX);
    navigator.zoom(99, 600, BOX);
    expect(chosen.mock.lastCall).toEqual([{ kind: 'fit' }]);
  });

  it('keys keep following while they zoom, the wheel does not', () => {
    const { navigator } = made(true);
    navigator.zoom(0.5, null, BOX);
    expect([navigator.following, navigator.time?.span]).toEqual([true, { startS: 20 - 5.1 * 0.96, stopS: 20 + 5.1 * 0.04 }]);
    navigator.zoom(0.5, 300, BOX);
    expect(navigator.following).toBe(false);
  });

  it('stops following where it stands, and starts again', () => {
    const { navigator, chosen } = made(true);
    navigator.toggleFollow();
    navigator.toggleFollow();
    expect(chosen.mock.calls).toEqual([[{ kind: 'free', span: { startS: 10, stopS: 20.2 } }], [{ kind: 'follow', widthS: null }]]);
  });

  it('does what the host says without reporting it back, and ignores nonsense', () => {
    const { navigator, chosen } = made(true);
    navigator.setTimeRange([3, 4]);
    navigator.setTimeRange([4, 4]);
    navigator.setTimeRange([NaN, 4]);
    expect(navigator.refresh()?.span).toEqual({ startS: 3, stopS: 4 });
    navigator.setTimeRange(null);
    expect(navigator.refresh()?.span).toEqual({ startS: 0, stopS: 20.4 });
    navigator.setFollow(true);
    navigator.setTimeRange(null);
    expect([navigator.following, chosen.mock.calls]).toEqual([true, []]);
  });

  it('does nothing before the first compute', () => {
    const chosen = vi.fn();
    const navigator = navigatorOf(new TaskStore(), false, chosen);
    navigator.zoom(0.5, 1, BOX);
    navigator.pan(5, BOX);
    expect([navigator.refresh(), chosen.mock.calls]).toEqual([null, []]);
  });
});

function storeOfTenSeconds(): TaskStore {
  const store = storeWith(smallBatch({ nowS: 20, active: false, runs: [smallRun({ startS: 10, stopS: 20, status: 'finished' })] }));
  return store;
}

it('a gesture in one chart moves all charts on the axis, and only the one it was made in reports it', () => {
  const store = storeOfTenSeconds();
  const axis = new TimeAxis(false);
  const reports = [vi.fn(), vi.fn()];
  const [one, other] = reports.map(chosen => new Navigator(view => shownTime(store, ALL_RUNS, view), axis, chosen));
  one?.refresh();
  one?.zoom(0.5, 600, BOX);
  expect(other?.refresh()?.span).toEqual(one?.time?.span);
  expect(other?.time?.span.startS).toBeCloseTo(12.55, 9);
  expect(reports.map(report => report.mock.calls.length)).toEqual([1, 0]);
});

it('tells of every change of view and cursor, not of the same cursor again, until the signal aborts', () => {
  const axis = new TimeAxis(true);
  const heard = vi.fn(() => [axis.view.kind, axis.cursorS]);
  const controller = new AbortController();
  axis.subscribe(heard, controller.signal);
  axis.point(3);
  axis.point(3);
  axis.show({ kind: 'fit' });
  axis.point(null);
  controller.abort();
  axis.point(4);
  axis.subscribe(heard, controller.signal);
  expect(heard.mock.results.map(({ value }) => value as unknown)).toEqual([['follow', 3], ['fit', 3], ['fit', null]]);
});

it('plots begin where the chart that needs most room begins while it is there, and the others hear when that changes', () => {
  const axis = new TimeAxis(false);
  const heard = vi.fn();
  axis.subscribe(heard, new AbortController().signal);
  const [gantt, cache] = [{}, {}];
  const [ganttEnd, cacheEnd] = [new AbortController(), new AbortController()];
  const reserve = (chart: object, gutterPx: number): [number, number] =>
    [axis.reserve(chart, gutterPx, (chart === gantt ? ganttEnd : cacheEnd).signal), heard.mock.calls.length];
  expect([reserve(gantt, 80), reserve(cache, 60)]).toEqual([[80, 0], [80, 0]]);
  expect([reserve(cache, 90), reserve(gantt, 80)]).toEqual([[90, 1], [90, 1]]);
  cacheEnd.abort();
  expect([reserve(gantt, 80), reserve(cache, 260), reserve(gantt, 80)]).toEqual([[80, 2], [80, 2], [80, 2]]);
});

const over = (run: number, startS: number, stopS: number): Run => smallRun({ run, startS, stopS, status: 'finished' });
const going = (run: number, startS: number): Run => smallRun({ run, startS });
const FIRST = over(0, 0, 5);
const SECOND = over(1, 10, 12);

let store: TaskStore;
let axis: TimeAxis;
let nBatches = 0;

beforeEach(() => {
  store = new TaskStore({ clockMs: () => 0 });
  axis = new TimeAxis(true);
  nBatches = 0;
});

function hear(nowS: number, ...runs: Run[]): void {
  store.append(smallBatch({ nowS, runs, seq: nBatches, active: runs.some(run => run.status === 'running') }));
  nBatches += 1;
}

function shown(view: View = axis.view, shows: 'now' | 'all' = 'now'): [number, number | null] {
  const runRange = new ShownRuns(store, { firstRun: 0, lastRun: null }, axis, shows);
  runRange.refresh(view);
  return [runRange.firstRun, runRange.lastRun];
}

it('shows all there is before anything ran, and of one cell', () => {
  expect([shown(), shown(axis.view, 'all')]).toEqual([[0, null], [0, null]]);
  hear(20, FIRST, SECOND);
  expect(shown(axis.view, 'all')).toEqual([0, null]);
});

it('shows what ended last, and moves to a compute that begins', () => {
  const runRange = new ShownRuns(store, { firstRun: 0, lastRun: null }, axis, 'now');
  const seen = [[FIRST], [FIRST, SECOND], [going(2, 20)], [going(3, 21)], [over(2, 20, 30), over(3, 21, 22)]].map(runs => {
    hear(30, ...runs);
    runRange.refresh(axis.view);
    return runRange.id;
  });
  expect(seen).toEqual(['0 to 0', '1 to 1', '2 to 2', '2 to 3', '2 to 2']);
});

describe('what a person looks at stays', () => {
  const free = (startS: number, stopS: number): View => ({ kind: 'free', span: { startS, stopS } });

  it.each([
    ['a part of an earlier compute', free(1, 4), [0, 0]],
    ['a part in which two ran', free(4, 11), [0, 1]],
    ['the one that runs', free(21, 23), [2, 2]],
    ['a time in which nothing ran: what runs now', free(6, 9), [2, 2]],
    ['the last seconds', { kind: 'follow', widthS: 20 } satisfies View, [1, 2]]
  ] as const)('%s', (_name, view, expected) => {
    hear(30, FIRST, SECOND, going(2, 20));
    expect(shown(view)).toEqual(expected);
  });

  it('one compute, or all, which a person selected', () => {
    hear(30, FIRST, SECOND, going(2, 20));
    const seen = ([0, 'all', null] as const).map(chosen => {
      axis.choose(chosen);
      return shown();
    });
    expect(seen).toEqual([[0, 0], [0, null], [2, 2]]);
  });

  it('what ran when time was paused', () => {
    hear(30, FIRST, over(1, 10, 12), going(2, 20));
    const seen = [11, 15, 4].map(pausedAtS => {
      axis.pauseAt(pausedAtS);
      return shown();
    });
    expect(seen).toEqual([[1, 1], [1, 1], [0, 0]]);
  });
});

it('of what was cleared away shows nothing', () => {
  hear(30, FIRST, SECOND);
  new ShownRuns(store, { firstRun: 0, lastRun: null }, axis, 'now').toggleClear();
  expect(shown()).toEqual([2, null]);
});
