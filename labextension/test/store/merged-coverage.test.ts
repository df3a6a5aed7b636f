import { describe, expect, it } from 'vitest';

import { LaneTasks, MARK, MergedCoverage, NO_PREFIX } from '../../src/store';

type Bar = [start: number, stop: number, prefix: number, status?: number];

function merged(lanes: readonly (readonly Bar[])[], columns: number, hidden: Uint8Array | null = null): MergedCoverage {
  const tasks = lanes.map(bars => {
    const lane = new LaneTasks();
    bars.forEach(([start, stop, prefix, status = 0], row) => {
      lane.push(start, stop, 0, prefix, status, 0, row);
    });
    lane.settle();
    return lane;
  });
  const coverage = new MergedCoverage();
  // Measured twice: what is left of an earlier frame must not count.
  for (const width of [columns + 1, columns]) {
    coverage.measure(tasks.length, width, (lane, i) => {
      lane.measure(tasks[i], { startS: 0, stopS: width }, width, null, 5, { hidden, focus: 1 });
    });
  }
  return coverage;
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
});
