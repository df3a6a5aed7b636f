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

it('plots begin where the chart that needs most room begins, and the others hear when that changes', () => {
  const axis = new TimeAxis(false);
  const heard = vi.fn();
  axis.subscribe(heard, new AbortController().signal);
  const [gantt, cache] = [{}, {}];
  expect([axis.reserve(gantt, 80), axis.reserve(cache, 60), heard.mock.calls.length]).toEqual([80, 80, 0]);
  expect([axis.reserve(cache, 90), axis.reserve(gantt, 80), heard.mock.calls.length]).toEqual([90, 90, 1]);
});
