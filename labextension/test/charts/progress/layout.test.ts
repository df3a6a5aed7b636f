// @vitest-environment node
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type ProgressInput, type RunTimes, layoutProgress } from '../../../src/charts/progress/layout';
import { headline } from '../../../src/charts/timeline/time';
import type { StopWay } from '../../../src/wire';
import { smallProgress, smallRun } from '../small-batch';

const RUN: RunTimes = { run: 0, nTasks: 100, startS: 10, stopS: null, status: 'running', error: null, scheduler: 'threads', sendS: null };

const ROW = smallProgress({ total: 100 });

const layout = (input: Partial<ProgressInput>): ReturnType<typeof layoutProgress> =>
  layoutProgress({ rows: [], runs: [], estimates: [], failures: [], nowS: 12, ...input });

describe('layoutProgress', () => {
  it('waits where there is no compute', () => {
    expect(layout({})).toEqual({
      total: 0, finished: 0, erred: 0, running: 0, interrupted: 0, released: 0, skipped: 0, atWorkers: false, ahead: null,
      state: 'waiting', counting: false, executing: null, liveState: '', nRuns: 0, error: null, errors: [], lost: 0, fraction: 0, elapsedS: 0, eta: { kind: 'none' }, prefixes: []
    });
  });

  it('sums counts of all prefixes and computes, and keeps the prefixes in the order that they have', () => {
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
      total: 55, finished: 34, erred: 1, running: 2, interrupted: 0, released: 0, skipped: 0, atWorkers: false, ahead: null,
      state: 'running', counting: false, executing: null, liveState: '', nRuns: 2, error: null, errors: [], lost: 0, fraction: 34 / 55, elapsedS: 1.5,
      eta: { kind: 'estimating' },
      prefixes: [
        { prefix: 'mul', seconds: 1, total: 10, finished: 10, erred: 0, running: 0, interrupted: 0, released: 0, skipped: 0, atWorkers: false, ahead: null },
        { prefix: 'add', seconds: 2, total: 40, finished: 24, erred: 1, running: 2, interrupted: 0, released: 0, skipped: 0, atWorkers: false, ahead: null }
      ]
    });
  });

  it('has what keeps computes from going on, unless one of them does', () => {
    const of = (runs: RunTimes[], ...states: [number, string][]): string => layout({ runs, liveStates: new Map(states) }).liveState;
    const none: [number, string] = [0, 'no workers yet, 3 s'];
    expect([
      of([RUN], none), of([RUN]), of([], none), of([{ ...RUN, status: 'interrupted' }], none), of([RUN, { ...RUN, run: 1 }], none),
      of([RUN, { ...RUN, run: 1 }], none, [1, 'no workers yet, 1 s'])
    ]).toEqual(['no workers yet, 3 s', '', '', '', '', 'no workers yet, 3 s']);
    const silent = (silentS: number, run = RUN): string => layout({ runs: [run], silentS }).liveState;
    expect([silent(2.9), silent(4.9), silent(9, { ...RUN, status: 'finished' })]).toEqual(['', 'kernel busy in C code or out of reach, 4 s', '']);
  });

  it('counts what workers have begun apart from what they were given, where they have said it since it began, and of nothing else', () => {
    const asked: number[] = [];
    const run = { ...RUN, startS: 3, scheduler: 'distributed' };
    const of = (input: Partial<ProgressInput>, executing: number | null = 8): number | null =>
      layout({ rows: [{ ...ROW, running: 48 }], runs: [run], executingSince: sinceS => { asked.push(sinceS); return executing; }, ...input }).executing;
    const local = { ...RUN, run: 1 };
    expect([
      of({}), of({}, 50), of({}, null), of({ runs: [{ ...run, startS: 11 }] }), of({ rows: [ROW] }),
      of({ runs: [run, local], rows: [{ ...ROW, running: 48 }, { ...ROW, run: 1, running: 1 }] })
    ]).toEqual([8, 48, null, 8, null, null]);
    expect(asked).toEqual([7, 7, 7, 11]);
  });

  it('leaves out tasks that do not have to run, and prefixes of which none has to', () => {
    const runs = [{ ...RUN, nTasks: 15, scheduler: 'distributed' }];
    const rows = [
      { ...ROW, prefix: 'ones', total: 0, skipped: 10 },
      { ...ROW, prefix: 'add', total: 3, finished: 1, skipped: 7 },
      { ...ROW, prefix: 'sum', total: 12 }
    ];
    const { total, finished, skipped, fraction, ahead, prefixes } = layout({ rows, runs });
    expect({ total, finished, skipped, fraction, ahead }).toEqual({ total: 15, finished: 1, skipped: 17, fraction: 1 / 15, ahead: null });
    expect(prefixes.map(row => [row.prefix, row.total, row.skipped])).toEqual([['add', 3, 7], ['sum', 12, 0]]);
  });

  it('counts a compute of which no task has to run', () => {
    const seen = [0, 4].map(skipped => layout({ rows: [{ ...ROW, total: 0, skipped }], runs: [{ ...RUN, nTasks: 0 }] }));
    expect(seen.map(({ counting, total, fraction }) => [counting, total, fraction])).toEqual([[true, 0, 0], [false, 0, 0]]);
  });

  it('sums what tasks of a cluster wait for, and says where it is not known of all', () => {
    const told = { scheduledS: 10, asked: 4, isAll: 1, queued: 1, waiting: 2, noWorker: 1 };
    const runs = [{ ...RUN, scheduler: 'distributed' }, { ...RUN, run: 1 }];
    const rows = [
      { ...ROW, total: 10, finished: 3, running: 3, ...told },
      { ...ROW, run: 1, total: 6, running: 1, ...told, scheduledS: 11, queued: 5, waiting: 0, asked: 5, noWorker: 0 },
      { ...ROW, prefix: 'done', total: 4, finished: 4 }
    ];
    const sum = { total: 9, asked: 9, isAll: true, ageS: 2, queued: 6, waiting: 2, noWorker: 1 };
    const seen = layout({ rows, runs });
    expect([seen, ...seen.prefixes].map(({ atWorkers, ahead }) => [atWorkers, ahead])).toEqual([[true, sum], [true, sum], [false, null]]);
    const partial = layout({ rows: [...rows, { ...ROW, prefix: 'more', total: 5 }], runs });
    expect(partial.ahead).toEqual({ ...sum, total: 14, isAll: false });
  });

  it('gives no share and no rows of a compute whose tasks are not all counted, while it runs', () => {
    const runs: RunTimes[] = [{ ...RUN, stopS: 11, status: 'finished' }, { ...RUN, run: 1, nTasks: 0 }];
    const rows = [{ ...ROW, finished: 100 }, { ...ROW, run: 1, prefix: 'mul', total: 1, running: 1 }];
    const seen = [layout({ rows, runs }), layout({ rows, runs: runs.map(run => ({ ...run, stopS: 12, status: 'finished' as const })) })];
    expect(seen.map(({ counting, fraction, prefixes }) => [counting, fraction, prefixes.map(row => row.prefix)])).toEqual([
      [true, 0, ['add']], [false, 100 / 101, ['add', 'mul']]
    ]);
  });

  it('says how long it takes until all computes that run have ended, as the kernel estimates it', () => {
    const runs: RunTimes[] = [{ ...RUN, stopS: 11, status: 'finished' }, { ...RUN, run: 1 }, { ...RUN, run: 2 }];
    const estimates = [
      { run: 1, stopS: 15, earliestS: 14, latestS: 19, nUnseen: 2 },
      { run: 2, stopS: 16, earliestS: 11, latestS: 17, nUnseen: 1 }
    ];
    const eta = (nowS: number): unknown => layout({ runs, estimates, nowS }).eta;
    expect([eta(12), eta(18)]).toEqual([
      { kind: 'estimate', seconds: 4, lowS: 2, highS: 7, nUnseen: 3 },
      { kind: 'estimate', seconds: 0, lowS: 0, highS: 1, nUnseen: 3 }
    ]);
  });

  it('gives no estimate before there is one for each compute that runs, once nothing runs, and while all that runs is being stopped, which it says', () => {
    const estimates = [{ run: 0, stopS: 15, earliestS: 14, latestS: 19, nUnseen: 0 }];
    const of = (...ways: StopWay[]): unknown => {
      const { liveState, eta } = layout({ runs: ways.map((_, run) => ({ ...RUN, run })), estimates, stops: new Map(ways.entries()) });
      return [liveState, eta.kind];
    };
    expect([of('asked'), of('asked', 'asked'), of('interrupt'), of('asked', 'cancel')]).toEqual([
      ['stopping…', 'none'], ['stopping…', 'none'], ['', 'estimate'], ['', 'estimating']
    ]);
    const ended: RunTimes = { ...RUN, stopS: 12, status: 'interrupted' };
    expect(layout({ rows: [{ ...ROW, finished: 50 }], runs: [ended], estimates }).eta).toEqual({ kind: 'none' });
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

  it('lists what tasks raised, and what a compute failed with where no task says so', () => {
    const first = { row: 0, lane: 0, startS: 10, key: 'k' };
    const raised = { prefix: 'add', status: 'erred', error: 'ValueError: boom', n: 2, first } as const;
    const lost = { ...raised, status: 'lost', error: null } as const;
    const runs = [null, 'ValueError: boom', 'KeyError: x', 'later'].map((error, run) => ({ ...RUN, run, status: error === null ? 'finished' as const : 'erred' as const, error }));
    const { error, errors } = layout({ runs, failures: [raised, lost] });
    expect({ error, errors }).toEqual({ error: 'KeyError: x', errors: [raised] });
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

describe('the headline of a session', () => {
  it.each([
    ['nothing', [], []],
    ['what runs', [[0, 1], [2, 3], [4, null]], [2]],
    ['what ran last', [[0, 1], [2, 3]], [1]],
    ['all that runs', [[0, null], [1, 2], [2, null]], [0, 2]],
    ['the one around others', [[0, 5], [1, 2], [3, 4]], [0]]
  ] as const)('is %s', (_, spans, shown) => {
    const runs = spans.map(([startS, stopS], run) => smallRun({ run, startS, stopS, status: stopS === null ? 'running' : 'erred' }));
    expect(headline(runs).map(({ run }) => run)).toEqual(shown);
  });
});
