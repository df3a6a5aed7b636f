import { beforeEach, expect, it, vi } from 'vitest';

import { BusyMachine, type Question } from '../../../../src/hosts/lab/cells/busy-machine';
import type { Explained } from '../../../../src/wire';
import { fakeTime } from '../../../fake-time';

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
