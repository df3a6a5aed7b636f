// @vitest-environment node
import { describe, expect, it } from 'vitest';

import type { Coverage } from '../../../src/store';
import { MARK, NO_PREFIX } from '../../../src/store';
import { laneOf, lookAt, measured } from '../measured';

type Bar = [start: number, stop: number, prefix: number, status?: number];

const barOf = ([start, stop, prefix, status = 0]: Bar): Parameters<typeof laneOf>[0][number] => ({ start, stop, prefix, status });

function merged(lanes: readonly (readonly Bar[])[], columns: number, hidden: Uint8Array | null = null): Coverage {
  return measured(lanes.map(bars => laneOf(bars.map(barOf))), lookAt(columns, { sight: { hidden, focus: 1 } }));
}

const list = (values: Iterable<number>): number[] => Array.from(values, v => Math.round(v * 1e4) / 1e4);

describe('merged coverage', () => {
  it('is the mean of the lanes', () => {
    expect(list(merged([[[0, 2, 0]], [[1, 1.5, 0]], [], []], 3).cover)).toEqual([0.25, 0.375, 0]);
  });

  it('what took most of all lanes gives the colour, even where it is first in none', () => {
    const { prefix } = merged([[[0, 0.4, 1], [0.4, 1, 2]], [[0, 0.4, 1], [0.4, 1, 3]], [[0, 0.4, 1], [0.4, 1, 4]]], 2);
    expect([...prefix]).toEqual([1, NO_PREFIX]);
  });

  it('knows the part of the prefix in focus, and leaves hidden ones out', () => {
    const lanes: Bar[][] = [[[0, 0.5, 1], [0.5, 1, 2]], [[0, 1, 2]]];
    const all = merged(lanes, 1);
    expect([list(all.cover), list(all.focus)]).toEqual([[1], [0.25]]);
    const some = merged(lanes, 1, Uint8Array.of(0, 0, 1));
    expect([list(some.cover), list(some.focus), [...some.prefix]]).toEqual([[0.25], [0.25], [1]]);
  });

  it('failures stay marked, with their part of all lanes', () => {
    const { bad, marks } = merged([[[0, 0.5, 0, 1]], [[0, 1, 0, 2]]], 1);
    expect([list(bad), marks[0]]).toEqual([[0.75], MARK.any | MARK.erred | MARK.interrupted]);
  });

  it('what is in flight fills what is free in its own lane', () => {
    const [busy, idle] = [{ tasks: laneOf([{ start: 0, stop: 1 }]), open: [{ startS: 0.5, prefix: 1 }] }, { tasks: undefined, open: [] }];
    expect(list(measured([busy, idle], lookAt(3, { nowS: 2 })).cover)).toEqual([0.5, 0.5, 0]);
  });
});
