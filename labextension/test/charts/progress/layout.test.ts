import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ProgressInput, RunTimes } from '../../../src/charts/progress/layout';
import { layoutProgress } from '../../../src/charts/progress/layout';
import type { PrefixProgress } from '../../../src/wire';

const RUN: RunTimes = { run: 0, nTasks: 100, startS: 10, stopS: null, status: 'running', error: null };

const ROW: PrefixProgress = {
  run: 0, prefix: 'add', total: 100, finished: 0, erred: 0, running: 0, interrupted: 0, durationS: 0
};

const layout = (input: Partial<ProgressInput>): ReturnType<typeof layoutProgress> =>
  layoutProgress({ rows: [], runs: [], nowS: 12, ...input });

describe('layoutProgress', () => {
  it('waits where there is no compute', () => {
    expect(layout({})).toEqual({
      total: 0, finished: 0, erred: 0, running: 0, interrupted: 0,
      state: 'waiting', nRuns: 0, error: null, fraction: 0, elapsedS: 0, eta: { kind: 'none' }, prefixes: []
    });
  });

  it('sums counts of all prefixes and computes, and keeps prefixes in order of appearance', () => {
    const runs: RunTimes[] = [
      { ...RUN, nTasks: 30, stopS: 11, status: 'finished' },
      { ...RUN, run: 1, nTasks: 25, startS: 11.5 }
    ];
    const rows = [
      { ...ROW, prefix: 'mul', total: 10, finished: 10, durationS: 1 },
      { ...ROW, total: 20, finished: 20, durationS: 1 },
      { ...ROW, run: 1, total: 20, finished: 4, erred: 1, running: 2, durationS: 1 }
    ];
    expect(layout({ rows, runs })).toEqual({
      total: 55, finished: 34, erred: 1, running: 2, interrupted: 0,
      state: 'running', nRuns: 2, error: null, fraction: 34 / 55, elapsedS: 1.5,
      // 15 + 5 uncounted tasks of 0.2 s each, at the 1 s of work per 0.5 s that was reached.
      eta: { kind: 'estimate', seconds: 2 },
      prefixes: [
        { prefix: 'mul', total: 10, finished: 10, erred: 0, running: 0, interrupted: 0 },
        { prefix: 'add', total: 40, finished: 24, erred: 1, running: 2, interrupted: 0 }
      ]
    });
  });

  it('takes each prefix for as long as its own tasks took, and an unseen one for the mean', () => {
    const rows = [
      { ...ROW, prefix: 'slow', total: 8, finished: 4, durationS: 8 },
      { ...ROW, prefix: 'fast', total: 80, finished: 40, durationS: 2 },
      { ...ROW, prefix: 'unseen', total: 11, durationS: 0 }
    ];
    // 4 × 2 s + 40 × 0.05 s + 11 × 10/44 s, at a concurrency of 10 s / 2 s.
    expect(layout({ rows, runs: [{ ...RUN, nTasks: 99 }] }).eta).toEqual({ kind: 'estimate', seconds: 2.5 });
  });

  it.each([
    ['two tasks have ended', { finished: 2, durationS: 4 }, 12],
    ['half a second has not passed', { finished: 50, durationS: 0.8 }, 10.4],
    ['durations are not known', { finished: 50, durationS: null }, 12]
  ])('gives no estimate while only %s', (_, counts, nowS) => {
    expect(layout({ rows: [{ ...ROW, ...counts }], runs: [RUN], nowS }).eta).toEqual({ kind: 'estimating' });
  });

  it('gives no estimate once nothing runs', () => {
    const runs: RunTimes[] = [{ ...RUN, stopS: 12, status: 'interrupted' }];
    expect(layout({ rows: [{ ...ROW, finished: 50, durationS: 4 }], runs }).eta).toEqual({ kind: 'none' });
  });

  it.each([
    [['finished', 'running', 'interrupted', 'erred'], 'running'],
    [['finished', 'interrupted', 'erred'], 'interrupted'],
    [['erred', 'finished'], 'erred'],
    [['finished', 'finished'], 'finished']
  ] as const)('calls %j %s', (statuses, state) => {
    const runs = statuses.map((status, run) => ({ ...RUN, run, status }));
    expect(layout({ runs }).state).toBe(state);
  });

  it('says what the first failed compute failed with', () => {
    const runs: RunTimes[] = [
      { ...RUN, status: 'finished' },
      { ...RUN, status: 'erred', error: 'ValueError: boom' },
      { ...RUN, status: 'erred', error: 'later' }
    ];
    expect(layout({ runs }).error).toBe('ValueError: boom');
  });

  it('counts time once in which several computes ran, and no pause between them', () => {
    const span = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 20 }));
    fc.assert(
      fc.property(fc.array(span, { maxLength: 8 }), spans => {
        const runs = spans.map(([startS, widthS], run) => ({ ...RUN, run, startS, stopS: startS + widthS }));
        const seconds = new Set(spans.flatMap(([start, width]) => Array.from({ length: width }, (_, i) => start + i)));
        expect(layout({ runs }).elapsedS).toBe(seconds.size);
      })
    );
  });
});
