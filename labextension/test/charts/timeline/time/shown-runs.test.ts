/** Which computes a view of a session shows, whose axes and gauges are of these. */
import { beforeEach, describe, expect, it } from 'vitest';

import { type View, ShownRuns, TimeAxis } from '../../../../src/charts/timeline/time';
import { TaskStore } from '../../../../src/store';
import type { Run } from '../../../../src/wire';
import { smallBatch, smallRun } from '../../small-batch';

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
