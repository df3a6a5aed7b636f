// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { coresText, formatCpu, gapText, sampleSpan, summariseResources } from '../../../src/charts/resources/track';
import { TaskStore } from '../../../src/store';
import type { Run } from '../../../src/wire';
import type { Limits, Sample } from '../../store/series';
import { resourceColumns } from '../../store/series';
import { smallBatch, smallRun } from '../small-batch';

function storeOf(samples: Sample[], runs: Run[] = [smallRun()], section: Limits = {}): TaskStore {
  const store = new TaskStore();
  store.append(smallBatch({ runs, resources: resourceColumns(samples, section) }));
  return store;
}

const SAMPLES: Sample[] = [
  { at: 1, cpu: null, rss: 1e9 },
  { at: 1.25, cpu: 150, rss: 3e9, n: 3 },
  { at: 4.25, cpu: 50, rss: 2e9, gap: true },
  { at: 4.5, cpu: 100, rss: 2.5e9, n: 2 }
];

const ALL = { startS: 0, stopS: Infinity };

describe('numbers', () => {
  it('are those of the samples: CPU in parts of the available cores', () => {
    expect(summariseResources(storeOf(SAMPLES).resources, ALL)).toEqual({
      n: 4, nCores: 2, limitBytes: 8e9,
      cpuShare: 0.5, rssBytes: 2.5e9, nProcesses: 2,
      cpuPeak: { value: 0.75, timeS: 1.25 }, rssPeak: { value: 3e9, timeS: 1.25 },
      nGaps: 1, gapS: 3
    });
  });

  it('of one sample have no CPU, and of none there are none', () => {
    const { resources } = storeOf(SAMPLES);
    const one = summariseResources(resources, { startS: 0, stopS: 1 });
    expect([one?.cpuShare, one?.cpuPeak, one?.rssBytes]).toEqual([null, null, 1e9]);
    expect(summariseResources(resources, { startS: 7, stopS: 8 })).toBeNull();
  });
});

it('samples belong to computes up to the next one, the one right after the end included', () => {
  const runs = [
    smallRun({ run: 0, startS: 1, stopS: 2 }),
    smallRun({ run: 1, startS: 2.5, stopS: 6 }),
    smallRun({ run: 2, startS: 3, stopS: 4 }),
    smallRun({ run: 3, startS: 9 })
  ];
  const { tables } = storeOf([], runs);
  const spans = [[0, 0], [1, 1], [2, 2], [1, 2], [3, null], [7, 9]] as const;
  expect(spans.map(([firstRun, lastRun]) => sampleSpan(tables, { firstRun, lastRun }))).toEqual([
    { startS: 1, stopS: 2.5 },
    { startS: 2.5, stopS: 9 },
    { startS: 3, stopS: 9 },
    { startS: 2.5, stopS: 9 },
    { startS: 9, stopS: Infinity },
    null
  ]);
});

describe('words', () => {
  const summary = summariseResources(storeOf(SAMPLES).resources, ALL)!;

  it('say what all of CPU is', () => {
    expect([2, 1, null].map(nCores => coresText({ nCores }))).toEqual([
      '100% = all 2 cores available', '100% = the one core available', '100% = one core'
    ]);
    expect([null, 0, 0.5, 0.999, 1.037].map(formatCpu)).toEqual(['–', '0%', '50%', '>99%', '104%']);
  });

  it('say what was not measured', () => {
    expect(gapText(summary)).toBe('1 gap of 3 s without samples (striped); a memory peak in it was not seen');
    expect(gapText({ ...summary, nGaps: 0 })).toBe('');
  });
});
