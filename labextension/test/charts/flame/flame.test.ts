// @vitest-environment node
import { expect, test } from 'vitest';

import { type FlameData, decodeFlame } from '../../../src/charts/flame/data';
import { ROW_PX, barAt, layoutFlame, neighbour, readable } from '../../../src/charts/flame/layout';
import { binsIn, threadsByBin } from '../../../src/charts/flame/track';
import { type FlameNode, describeAll, describeNode, findSame, growTree, nameOf, ownTimes } from '../../../src/charts/flame/tree';
import { type Rgb, contrast, parseColour } from '../../../src/lib/palette';
import { type Sample, wireOf } from './flame-data';

const ALL = { prefix: null, bins: null };
const SAMPLES: readonly Sample[] = [
  { stack: ['f', 'g'], seconds: 3 },
  { stack: ['f'], seconds: 1 },
  { stack: ['h'], seconds: 5, bin: 1 },
  { stack: [], seconds: 1, bin: 1 },
  { stack: ['f', 'g'], seconds: 2, prefix: 'y', bin: 2 }
];

function dataOf(samples: readonly Sample[] = SAMPLES): FlameData {
  const data = decodeFlame(wireOf(samples, 3));
  if (data === null) {
    throw new Error('there are samples');
  }
  return data;
}

type Outline = [name: string, seconds: number, own: number, ...below: unknown[]];

function outline(data: FlameData, node: FlameNode): Outline {
  return [nameOf(data, node), node.seconds, node.ownSeconds, ...node.children.map(child => outline(data, child))];
}

test('samples become a tree in which the longest calls stand first', () => {
  const data = dataOf();
  const root = growTree(data, ALL);
  expect(outline(data, root)).toEqual([
    'all tasks', 12, 0,
    ['tasks: x', 10, 1, ['h', 5, 5], ['f', 4, 1, ['g', 3, 3]]],
    ['tasks: y', 2, 0, ['f', 2, 0, ['g', 2, 2]]]
  ]);
  expect(root.count).toBe(1200);
});

test('a prefix, and a time, can be chosen', () => {
  const data = dataOf();
  expect(outline(data, growTree(data, { prefix: 1, bins: null }))).toEqual(['all tasks', 2, 0, ['tasks: y', 2, 0, ['f', 2, 0, ['g', 2, 2]]]]);
  expect(outline(data, growTree(data, { prefix: null, bins: [1, 2] }))).toEqual(['all tasks', 6, 0, ['tasks: x', 6, 1, ['h', 5, 5]]]);
  expect(growTree(data, { prefix: 1, bins: [0, 1] }).seconds).toBe(0);
});

test('a call is found again in a tree of other samples, or else the nearest above it', () => {
  const data = dataOf();
  const g = growTree(data, ALL).children[0]?.children[1]?.children[0] as FlameNode;
  const again = growTree(data, { prefix: 0, bins: [0, 1] });
  expect(nameOf(data, findSame(again, g))).toBe('g');
  const without = growTree(data, { prefix: 0, bins: [1, 2] });
  expect(nameOf(data, findSame(without, g))).toBe('tasks: x');
});

test('bars are as long as the time, below the one that made them', () => {
  const data = dataOf();
  const root = growTree(data, ALL);
  const { bars, heightPx } = layoutFlame(root, root, 1200);
  expect(bars.map(bar => [nameOf(data, bar.node), bar.xPx, bar.widthPx, bar.yPx / ROW_PX])).toEqual([
    ['all tasks', 0, 1200, 0],
    ['tasks: x', 0, 1000, 1],
    ['h', 0, 500, 2],
    ['f', 500, 400, 2],
    ['g', 500, 300, 3],
    ['tasks: y', 1000, 200, 1],
    ['f', 1000, 200, 2],
    ['g', 1000, 200, 3]
  ]);
  expect(heightPx).toBe(4 * ROW_PX);
});

test('zoomed into a call, it and what leads to it are as wide as all, and its neighbours are gone', () => {
  const data = dataOf();
  const root = growTree(data, ALL);
  const f = root.children[0]?.children[1] as FlameNode;
  const { bars } = layoutFlame(root, f, 1200);
  expect(bars.map(bar => [nameOf(data, bar.node), bar.xPx, bar.widthPx])).toEqual([
    ['all tasks', 0, 1200],
    ['tasks: x', 0, 1200],
    ['f', 0, 1200],
    ['g', 0, 900]
  ]);
});

test('calls that would be narrower than half a pixel are left out', () => {
  const data = dataOf([{ stack: ['f'], seconds: 1000 }, { stack: ['g'], seconds: 1 }]);
  const root = growTree(data, ALL);
  expect(layoutFlame(root, root, 400).bars.map(bar => nameOf(data, bar.node))).toEqual(['all tasks', 'tasks: x', 'f']);
});

test('a place in the picture is a bar or none, and arrows lead from bar to bar', () => {
  const data = dataOf();
  const root = growTree(data, ALL);
  const layout = layoutFlame(root, root, 1200);
  const name = (node: FlameNode | undefined): string | null => (node === undefined ? null : nameOf(data, node));
  expect(name(barAt(layout, 510, 2 * ROW_PX + 1)?.node)).toBe('f');
  expect(barAt(layout, 950, 2 * ROW_PX + 1)).toBeNull();
  const h = root.children[0]?.children[0] as FlameNode;
  expect(['up', 'right', 'left', 'down'].map(to => name(neighbour(layout, h, to as 'up')))).toEqual(['tasks: x', 'f', 'h', 'h']);
  expect(name(neighbour(layout, root, 'down'))).toBe('tasks: x');
  expect(neighbour(layout, root, 'up')).toBe(root);
});

test('samples of a bin are threads, over as much of it as has been, and a time that is selected is the bins that it touches', () => {
  const data = dataOf();
  const threads = ([[null, 200], [1, 200], [null, 102.5]] as const).map(([prefix, endS]) => [...threadsByBin(data, prefix, endS)]);
  expect(threads).toEqual([[4, 6, 2], [0, 0, 2], [4, 6, 4]]);
  expect([...threadsByBin({ ...data, binS: 2 }, null, 200)]).toEqual([2, 3, 1]);
  const of = (startS: number, stopS: number): unknown => binsIn(data, { startS, stopS });
  expect([binsIn(data, null), of(100, 101), of(100.5, 101.5), of(102.5, 500), of(101, 102)]).toEqual([null, [0, 1], [0, 2], [2, 3], [1, 2]]);
  // Before all of them, and after.
  expect([of(0, 1), of(500, 600)]).toEqual([[0, 0], [3, 3]]);
});

test('a call, the whole and the functions are told in words', () => {
  const data = dataOf();
  const root = growTree(data, ALL);
  const f = root.children[0]?.children[1] as FlameNode;
  expect(describeNode(data, f, root)).toBe('f (f.py:1): 4 s, 33% of what is shown, 1 s self, 400 samples');
  const ofCell = { ...data, functions: data.functions.map(fn => ({ ...fn, file: 'In [19]', line: 5 })) };
  expect(describeNode(ofCell, f, root)).toBe('f (In [19], line 5): 4 s, 33% of what is shown, 1 s self, 400 samples');
  expect(ownTimes(ofCell, root).rows[0]?.at(-1)).toBe('In [19], line 5');
  expect(describeAll({ ...data, nLeftOut: 7 }, root)).toBe('1,200 samples, about 12 s in tasks. 7 short calls are not drawn');
  expect(ownTimes(data, root).rows).toEqual([
    ['g', '5 s', '42%', 'g.py:1'],
    ['h', '5 s', '42%', 'h.py:1'],
    ['f', '1 s', '8%', 'f.py:1'],
    ['tasks: x', '1 s', '8%', 'C code that Dask called']
  ]);
});

test('text on a bar can be read on light and on dark', () => {
  for (const ground of ['#d88fa5', '#5a3b4b', '#ffffff', '#161b22', '#808080']) {
    const rgb = parseColour(ground) as Rgb;
    for (const ink of ['#1f2328', '#e6edf3']) {
      expect(contrast(parseColour(readable(ink, rgb)) as Rgb, rgb)).toBeGreaterThanOrEqual(4.5);
    }
  }
});

test('nothing yet is no data, and data that contradicts itself is refused', () => {
  expect(decodeFlame({})).toBeNull();
  expect(decodeFlame(null)).toBeNull();
  const wire = wireOf(SAMPLES, 3);
  const damaged: [Record<string, unknown>, string][] = [
    [{ prefixes: [] }, 'profile must be rows of known prefixes'],
    [{ functions: [] }, 'profile must be calls of known functions'],
    [{ functions: [['f', 'f.py', 'one']] }, 'profile.functions[0][2] must be a whole number'],
    [{ prefixes: [7, 8] }, 'profile.prefixes[0] must be a string'],
    [{ lengths: { start_s: 3 } }, 'profile.lengths.parent must be a whole number'],
    [{ columns: new DataView(new ArrayBuffer(8)) }, 'profile.lengths.start_s must be of 8 bytes in all'],
    [{ columns: 'x' }, 'buffers must be an ArrayBuffer or a view of one']
  ];
  for (const [part, expectation] of damaged) {
    expect(() => decodeFlame({ ...wire, ...part })).toThrow(expectation);
  }
  expect(() => decodeFlame(wireOf(SAMPLES, 1))).toThrow('profile must be rows of known bins');
});

test('calls deeper than a recorder keeps are not drawn, for no canvas is of any height', () => {
  const deep = dataOf([{ stack: Array.from({ length: 2_000 }, (_, i) => `f${i}`), seconds: 1 }]);
  const root = growTree(deep, ALL);
  expect(layoutFlame(root, root, 100).heightPx).toBe(258 * ROW_PX);
});
