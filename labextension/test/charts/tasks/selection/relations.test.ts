// @vitest-environment node
import { expect, it } from 'vitest';

import type { FoundTask } from '../../../../src/charts/tasks/find-task';
import { MAX_LINES, linesText, relationsOf, unknownText } from '../../../../src/charts/tasks/selected';
import { type LinkEnd, type Links, type TaskStore } from '../../../../src/store';
import { batchOf, storeWith } from '../../../store/rows';

function storeOf(n: number): { store: TaskStore; selected: FoundTask } {
  const store = storeWith(batchOf(Array.from({ length: n }, (_, i) => ({ start: i, stop: i + 0.5, lane: i % 2, key: [i] }))));
  const detail = store.detail(1, 0)!;
  return { store, selected: { kind: 'ended', ref: { lane: 1, row: 1, startS: 1 }, detail, label: 'thread 2', sharing: 1 } };
}

const link = (row: number): LinkEnd => ({ key: `k${row}`, place: { lane: row % 2, row, startS: row } });
const lost: LinkEnd = { key: 'data', place: null };

function known(dependencies: readonly LinkEnd[], dependents: readonly LinkEnd[], nDependents = dependents.length): Extract<Links, { kind: 'known' }> {
  return { kind: 'known', dependencies, nDependencies: dependencies.length, dependents, nDependents };
}

it('lines go from where one task stopped to where the next began', () => {
  const { store, selected } = storeOf(4);
  expect(relationsOf(store, selected, known([link(0)], [link(2), link(3)]))).toEqual([
    { kind: 'dependency', fromLane: 0, fromS: 0.5, toLane: 1, toS: 1 },
    { kind: 'dependent', fromLane: 1, fromS: 1.5, toLane: 0, toS: 2 },
    { kind: 'dependent', fromLane: 1, fromS: 1.5, toLane: 1, toS: 3 }
  ]);
});

it('ends that are not here are left out, and counted', () => {
  const { store, selected } = storeOf(4);
  const links = known([link(0), lost, { key: 'gone', place: { lane: 7, row: 99, startS: 5 } }], []);
  const lines = relationsOf(store, selected, links);
  expect([lines.length, linesText(links, lines)]).toEqual([
    1, 'Solid lines come from what it depends on, dashed ones lead to what needs it. 2 not drawn: data, not ended, no longer kept, or beyond 100 lines.'
  ]);
});

it('very many are cut, and it says so', () => {
  const { store, selected } = storeOf(400);
  const links = known([link(0)], Array.from({ length: 200 }, (_, i) => link(i + 2)), 5000);
  const lines = relationsOf(store, selected, links);
  expect([lines.length, linesText(links, lines)]).toEqual([
    MAX_LINES + 1,
    'Solid lines come from what it depends on, dashed ones lead to what needs it. 4,900 not drawn: data, not ended, no longer kept, or beyond 100 lines.'
  ]);
});

it('says when nobody knows, and when the kernel was asked and does not answer', () => {
  const { store, selected } = storeOf(2);
  const said = ([{ kind: 'unknown' }, { kind: 'asked', isLate: false }, { kind: 'asked', isLate: true }] as const)
    .map(links => [relationsOf(store, selected, links), unknownText(links)]);
  expect(said).toEqual([
    [[], 'Dependencies are not known here: the kernel that computed knows them, and recording.to_pandas("dependencies").'],
    [[], ''],
    [[], 'Dependencies: the kernel does not answer while it is busy; they come when it does.']
  ]);
});
