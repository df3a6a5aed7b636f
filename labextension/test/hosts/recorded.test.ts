// @vitest-environment node
import { expect, it } from 'vitest';

import { storeOf } from '../../src/hosts/recorded';
import { TABLES, wireMessage } from '../wire/wire-fixture';

/** Two tasks, the second of which needs the first, and a key that did not run. */
const ENTRIES = [wireMessage([{ key: [0], stopUs: 1e6, durationS: 1 }, { key: [1], lane: 1, stopUs: 2e6, durationS: 1 }], {
  tables: {
    ...TABLES,
    graphs: [{ run: 0, start_s: 0, is_known: 1, is_valued: 0 }],
    dependencies: [{ key: 1, dependency: 0 }, { key: 1, dependency: 2 }]
  }
})];

it('has what a task needs and what needs it', async () => {
  const store = storeOf(ENTRIES);
  expect(store.links(1)).toEqual({ kind: 'asked', isLate: false });
  await new Promise(resolve => { store.subscribe(() => { resolve(null); }, new AbortController().signal); });
  expect(store.links(1)).toEqual({
    kind: 'known',
    dependencies: [{ key: "('sum-1a', 0)", place: { lane: 0, row: 0, startS: 1 } }, { key: 'x', place: null }], nDependencies: 2,
    dependents: [], nDependents: 0
  });
});

it('does not know them where they were left out', () => {
  expect(storeOf([wireMessage([{ key: [0] }])]).links(0)).toEqual({ kind: 'unknown' });
});
