// @vitest-environment node
import { expect, it, vi } from 'vitest';

import { Navigator, TimeAxis, shownTime } from '../../../../src/charts/timeline/time';
import { ALL_RUNS, TaskStore } from '../../../../src/store';
import { smallBatch, smallRun } from '../../small-batch';

const BOX = { plotLeftPx: 100, plotWidthPx: 1000 };

function storeOfTenSeconds(): TaskStore {
  const store = new TaskStore();
  store.append(smallBatch({ nowS: 20, active: false, runs: [smallRun({ startS: 10, stopS: 20, status: 'finished' })] }));
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
  expect(heard.mock.results.map(({ value }) => value as unknown)).toEqual([
    ['follow', 3], ['fit', 3], ['fit', null]
  ]);
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
