// @vitest-environment node
import { describe, expect, it, beforeEach, vi } from 'vitest';

import { type CellFacts, type Execution, isCurrent, executionsByCell, runRangeOf } from '../../../../src/hosts/lab/cells/executions';
import { smallRun } from '../../../charts/small-batch';
import { type Question, BusyMachine } from '../../../../src/hosts/lab/cells/busy-machine';
import type { Explained } from '../../../../src/wire';
import { fakeTime } from '../../../fake-time';

it('executionsByCell: puts the computes of each execution of a cell together', () => {
  const ended = { status: 'finished', cell: 'a' } as const;
  const runs = [
    smallRun({ ...ended, run: 0, executionCount: 1, startS: 0, stopS: 100 }),
    smallRun({ ...ended, run: 3, executionCount: 4, sourceCrc: 7, startS: 220, stopS: 223, nTasks: 5 }),
    smallRun({ ...ended, run: 2, executionCount: 4, sourceCrc: 7, startS: 200, stopS: 202, status: 'erred', nRuns: 1000 }),
    smallRun({ run: 4, cell: 'b', executionCount: 5, startS: 300 }),
    smallRun({ run: 5, cell: null, executionCount: 6 })
  ];
  expect([...executionsByCell(runs)]).toEqual([
    ['a', [
      { executionCount: 1, sourceCrc: null, status: 'finished', runs: [0], nRuns: 1, nTasks: 10 },
      { executionCount: 4, sourceCrc: 7, status: 'erred', runs: [2, 3], nRuns: 1001, nTasks: 15 }
    ]],
    ['b', [{ executionCount: 5, sourceCrc: null, status: 'running', runs: [4], nRuns: 1, nTasks: 10 }]]
  ]);
});

it('charts of an execution show its computes, and those to come only while its cell runs', () => {
  const execution = { executionCount: 4, sourceCrc: null, status: 'running', runs: [2, 3], nRuns: 2, nTasks: 15 } as const;
  expect([true, false].map(isOpen => runRangeOf(execution, isOpen))).toEqual([{ firstRun: 2, lastRun: null }, { firstRun: 2, lastRun: 3 }]);
});

describe('isCurrent', () => {
  const finished: Execution = { executionCount: 4, sourceCrc: 7, status: 'finished', runs: [0], nRuns: 1, nTasks: 1 };
  const cell: CellFacts = { executionCount: 4, sourceCrc: 7, isRunning: false, floor: 0, witnessed: null };

  it.each<[string, boolean, Partial<Execution>, Partial<CellFacts>]>([
    ['of the execution whose number the cell has', true, {}, {}],
    ['of a cell that was run again since, without Dask', false, {}, { executionCount: 5 }],
    ['of a cell that was edited since', false, {}, { sourceCrc: 8 }],
    ['of a cell of which nobody knows what ran', true, { sourceCrc: null }, {}],
    ['of a cell that was cleared', false, {}, { executionCount: null }],
    ['of a cell that was cleared after its computes were seen running', false, {}, { executionCount: null, floor: 4, witnessed: 4 }],
    ['of a cell that goes on after its first compute', true, {}, { executionCount: null, isRunning: true, floor: 3 }],
    ['of the execution before the one that runs', false, {}, { executionCount: null, isRunning: true, floor: 4 }],
    ['of a cell that ran while the page was reloaded', true, {}, { executionCount: null, witnessed: 4 }],
    ['of a cell that is edited while it runs', true, { status: 'running' }, { executionCount: null, isRunning: true, sourceCrc: 8 }],
    ['of a thread that nobody can tell the execution of', false, { executionCount: null }, {}]
  ])('%s: %s', (_, shown, execution, facts) => { expect(isCurrent({ ...finished, ...execution }, { ...cell, ...facts })).toBe(shown); });
});

beforeEach(fakeTime);
const said = (busy: string | null): Explained => ({ kind: 'explained', explanation: { makespanS: 1, answer: '', busy, findings: [], path: { reason: '' } } });

it('one execution is asked about at a time, again after the wait of each "later", and none that was dropped', async () => {
  const [asked, told]: [number[], unknown[]] = [[], []];
  const answers: Explained[] = [{ kind: 'later', waitS: 2 }, { kind: 'later', waitS: 3 }, said('busy'), { kind: 'none', reason: '' }, said(null)];
  const machine = new BusyMachine(({ firstRun }) => {
    asked.push(firstRun);
    return Promise.resolve(answers.shift() ?? said('too often'));
  });
  const questions = [1, 2, 3, 4].map((run): Question => ({ runRange: { firstRun: run, lastRun: run }, tell: busy => { told.push([run, busy]); } }));
  questions.forEach(question => { machine.ask(question); machine.ask(question); });
  machine.drop(questions[1]!);
  const states: unknown[] = [];
  for (const ms of [0, 1999, 1, 2999, 1]) {
    await vi.advanceTimersByTimeAsync(ms);
    states.push([...asked]);
  }
  expect([states, told]).toEqual([
    [[1], [1], [1, 1], [1, 1], [1, 1, 1, 3, 4]],
    [[1, 'busy'], [3, null], [4, null]]
  ]);
});
