// @vitest-environment node
import { expect, it } from 'vitest';

import { storeOf } from '../../src/hosts/recorded';
import { wireMessage } from '../wire/wire-fixture';

const ENTRIES = [wireMessage([{ key: [0], stopUs: 1e6, durationS: 1 }, { key: [1], lane: 1, stopUs: 2e6, durationS: 1 }])];

it('asks for what a task needs and what needs it, once, and shows the answer', () => {
  const asked: number[] = [];
  const store = storeOf(ENTRIES, row => asked.push(row) > 0);
  expect([store.links(1), store.links(1), asked]).toEqual([{ kind: 'asked', isLate: false }, { kind: 'asked', isLate: false }, [1]]);
  const dependencies = [{ row: 0, key: "('sum-1a', 0)" }, { row: null, key: 'data' }];
  store.answerLinks(store.epoch ?? '', { row: 1, links: { dependencies, nDependencies: 2, dependents: [], nDependents: 0 } });
  expect(store.links(1)).toEqual({
    kind: 'known',
    dependencies: [
      { key: "('sum-1a', 0)", place: { lane: 0, row: 0, startS: 1 } },
      { key: 'data', place: null }
    ],
    nDependencies: 2,
    dependents: [],
    nDependents: 0
  });
});

it('does not know them where nobody can be asked', () => {
  expect(storeOf(ENTRIES, () => false).links(1)).toEqual({ kind: 'unknown' });
});
