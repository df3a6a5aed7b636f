// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { type ProgressLayout, layoutProgress } from '../../../src/charts/progress/layout';
import { describeProgress, rowNumber, rowSentence, shortText, progressTables } from '../../../src/charts/progress/words';
import { sharedCases } from '../../shared-cases';
import { smallProgress, smallRun } from '../small-batch';

const WAITING: ProgressLayout = {
  total: 0, finished: 0, erred: 0, running: 0, interrupted: 0, released: 0, skipped: 0, atWorkers: false, ahead: null,
  state: 'waiting', counting: false, executing: null, liveState: '', nRuns: 0, error: null, errors: [], lost: 0, fraction: 0, elapsedS: 0, eta: { kind: 'none' }, prefixes: []
};

describe('describeProgress', () => {
  it('says what it waits for', () => {
    expect(describeProgress(WAITING)).toEqual({
      state: 'Waiting for a Dask compute', count: '', percent: '', elapsed: '', eta: '', live: '',
      running: '', stuck: '', ahead: '', erred: '', interrupted: '', released: '', lost: '', skipped: '', error: '', sentence: 'Waiting for a Dask compute'
    });
  });

  it('says how far a compute is', () => {
    const layout: ProgressLayout = {
      ...WAITING,
      total: 1000, finished: 742, running: 4, erred: 1, interrupted: 2,
      state: 'running', nRuns: 3, fraction: 0.742, elapsedS: 12.34, eta: { kind: 'estimate', seconds: 3.2, lowS: 2.9, highS: 21, nUnseen: 0 }
    };
    expect(describeProgress(layout)).toEqual({
      state: 'Running', count: '742 of 1,000 tasks', percent: '74%', elapsed: '12.3 s',
      eta: 'about 4 s left (up to 25 s)', live: '', running: '4 running', stuck: '', ahead: '', erred: '1 failed', interrupted: '2 interrupted', released: '',
      lost: '', skipped: '', error: '',
      sentence:
        'Running: 742 of 1,000 tasks, 74%, 4 running, 1 failed, 2 interrupted, 12.3 s elapsed, about 4 s left (up to 25 s)'
    });
  });

  it('says what keeps it from going on, in the words of the kernel', () => {
    const layout: ProgressLayout = { ...WAITING, total: 53, state: 'running', nRuns: 1, elapsedS: 3.31, liveState: 'no workers yet, 3 s', eta: { kind: 'estimating' } };
    const { live, eta, sentence } = describeProgress(layout);
    expect({ live, eta, sentence, short: shortText(layout), later: shortText({ ...layout, finished: 5, fraction: 0.1 }) }).toEqual({
      live: 'no workers yet, 3 s', eta: '', sentence: 'Running: 0 of 53 tasks, 0%, no workers yet, 3 s, 3.3 s elapsed',
      short: 'no workers yet, 3 s', later: '10% · no workers yet, 3 s'
    });
  });

  it('says of the time left what Python says', () => {
    const { 'times left': cases } = sharedCases('quantities') as { 'times left': [guessS: number, highS: number, nUnseen: number, said: string][] };
    const said = cases.map(([seconds, highS, nUnseen]) => {
      const { eta } = describeProgress({ ...WAITING, eta: { kind: 'estimate', seconds, lowS: 0, highS, nUnseen } });
      return [seconds, highS, nUnseen, eta];
    });
    expect(said).toEqual(cases);
  });

  it('says it in a few words where there is room for no more', () => {
    const running: ProgressLayout = { ...WAITING, total: 8, finished: 4, running: 4, state: 'running', nRuns: 1, fraction: 0.5, elapsedS: 1 };
    const layouts: ProgressLayout[] = [
      WAITING,
      { ...running, counting: true },
      { ...running, eta: { kind: 'estimating' } },
      { ...running, eta: { kind: 'estimate', seconds: 7.2, lowS: 5, highS: 60, nUnseen: 3 } },
      { ...running, state: 'finished', finished: 8, elapsedS: 3.21 },
      { ...running, state: 'erred' },
      { ...running, state: 'interrupted' }
    ];
    expect(layouts.map(layout => shortText(layout))).toEqual([
      'Waiting for a Dask compute', 'running', '50%', '50% · about 8 s left', 'finished in 3.21 s', 'failed', 'interrupted'
    ]);
  });

  it('says how many tasks did not have to run', () => {
    const layout: ProgressLayout = { ...WAITING, total: 15, finished: 15, skipped: 1020, state: 'finished', nRuns: 1, fraction: 1, elapsedS: 2 };
    const told = [layout, { ...layout, total: 0, finished: 0, skipped: 1, fraction: 0 }].map(each => describeProgress(each));
    expect(told.map(({ count, skipped, sentence }) => [count, skipped, sentence])).toEqual([
      ['15 of 15 tasks', '1,020 skipped (already computed)', 'Finished: 15 of 15 tasks, 100%, 1,020 skipped (already computed), 2 s elapsed'],
      ['no task had to run', '1 skipped (already computed)', 'Finished: no task had to run, 1 skipped (already computed), 2 s elapsed']
    ]);
  });

  it('gives no total before all tasks were counted', () => {
    const layout: ProgressLayout = { ...WAITING, total: 1, running: 1, state: 'running', counting: true, nRuns: 1, elapsedS: 0.1 };
    const told = [layout, { ...layout, total: 41, finished: 40 }].map(each => describeProgress(each).sentence);
    expect(told).toEqual([
      'Running: counting tasks…, 1 running, 0.1 s elapsed', 'Running: 40 finished, total not known yet, 1 running, 0.1 s elapsed'
    ]);
  });

  it('tells tasks that were lost from those that were interrupted', () => {
    const told = [[5, 5], [5, 2], [5, 0]].map(([interrupted = 0, lost = 0]) => describeProgress({ ...WAITING, interrupted, lost }));
    expect(told.map(words => [words.interrupted, words.lost])).toEqual([
      ['', '5 lost with their worker'], ['3 interrupted', '2 lost with their worker'], ['5 interrupted', '']
    ]);
  });

  it('shows hostile errors as text that can be seen, and not all of a long one', () => {
    const layout: ProgressLayout = { ...WAITING, state: 'erred', nRuns: 1, error: `E: \u202e\n${'x'.repeat(1e6)}` };
    const { state, count, error } = describeProgress(layout);
    expect({ state, count, error }).toEqual({
      state: 'Failed', count: 'no tasks', error: `E: \\u202e\\n${'x'.repeat(144)}…${'x'.repeat(50)}`
    });
  });

  it.each([[8, '8 running, 40 waiting on workers'], [48, '48 running'], [0, '48 waiting on workers'], [null, '48 on a worker']])(
    'says apart what workers run of what they have, %s of 48', (executing, text) => {
      expect(describeProgress({ ...WAITING, state: 'running', atWorkers: true, running: 48, executing }).running).toBe(text);
    }
  );

  it('says what tasks of a cluster wait for, of how many that is known, and since when', () => {
    const ahead = { total: 334, asked: 334, isAll: true, ageS: 4.9, queued: 30, waiting: 300, noWorker: 4 };
    const told = [
      ahead,
      { ...ahead, total: 30_000, asked: 2000, isAll: false },
      { ...ahead, ageS: 7.8, queued: 0, noWorker: 1 },
      { ...ahead, ageS: 7.8, queued: 0, waiting: 0, noWorker: 0 }
    ].map(each => describeProgress({ ...WAITING, atWorkers: true, running: 12, ahead: each }));
    expect(told.map(words => [words.running, words.stuck, words.ahead])).toEqual([
      ['12 on a worker', '4 that no worker can run', '30 ready (no free thread), 300 waiting for inputs'],
      ['12 on a worker', '4 that no worker can run', '30 ready (no free thread), 300 waiting for inputs (2,000 of 30,000 asked)'],
      ['12 on a worker', '1 that no worker can run', '300 waiting for inputs (as of 7 s ago)'],
      ['12 on a worker', '', '']
    ]);
    const row = { prefix: 'add', total: 400, finished: 54, erred: 0, running: 12, interrupted: 0, released: 0, skipped: 0, seconds: null, atWorkers: true, ahead };
    expect([rowNumber(row), rowSentence(row)]).toEqual([
      '54 / 400', '54 of 400 finished, 12 on a worker, 4 that no worker can run, 30 ready (no free thread), 300 waiting for inputs'
    ]);
  });

  it('says what a row shows', () => {
    const row = { prefix: 'add', total: 2000, finished: 5, erred: 1, running: 2, interrupted: 3, released: 1, skipped: 0, seconds: 3, atWorkers: false, ahead: null };
    expect([row, { ...row, skipped: 40 }].map(each => rowSentence(each))).toEqual([
      '5 of 2,000 finished, 2 running, 1 failed, 2 interrupted, 1 released (futures deleted), 3 s in its tasks',
      '5 of 2,000 finished, 2 running, 1 failed, 2 interrupted, 1 released (futures deleted), 40 skipped (already computed), 3 s in its tasks'
    ]);
  });
});

it('progressTables: have a column of what did not have to run where there is any', () => {
  const tables = [0, 7].map(skipped => {
    const rows = [smallProgress({ finished: 4, running: 1, skipped })];
    return progressTables(layoutProgress({ rows, runs: [smallRun()], estimates: [], failures: [], nowS: 1 }));
  });
  const columns = ['Task type', 'Tasks', 'Finished', 'Running', 'Failed', 'Interrupted, lost or released'];
  expect(tables).toEqual([
    [{ caption: '1 task type', columns, rows: [['add', '10', '4', '1', '0', '0']] }],
    [{ caption: '1 task type', columns: [...columns, 'Skipped'], rows: [['add', '10', '4', '1', '0', '0', '7']] }]
  ]);
});
