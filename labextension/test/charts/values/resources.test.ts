import { beforeEach, describe, expect, it, vi } from 'vitest';

import { TimeAxis } from '../../../src/charts/timeline/time';
import { sampleSpan } from '../../../src/charts/timeline/quantity';
import { mountTracks } from '../../../src/charts/tracks';
import { formatCpu } from '../../../src/charts/values/resources';
import type { TaskStore } from '../../../src/store';
import type { Run } from '../../../src/wire';
import { type Limits, type Sample, resourceColumns } from '../../store/series';
import { smallBatch, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';
import { storeWith } from '../../store/rows';

beforeEach(fakeTime);

const SAMPLES: Sample[] = [
  { at: 1, cpu: null, rss: 1e9 },
  { at: 1.25, cpu: 150, rss: 2.8e9, peak: 3e9, n: 3 },
  { at: 4.25, cpu: 50, rss: 2e9, gap: true },
  { at: 4.5, cpu: 100, rss: 2.5e9, n: 2 }
];

function storeOf(samples: Sample[], runs: Run[], limits: Limits = {}): TaskStore {
  const store = storeWith(smallBatch({ nowS: 6, active: false, runs, resources: resourceColumns(samples, limits) }));
  return store;
}

const RUN = smallRun({ startS: 0.5, stopS: 5, status: 'finished' });

function mounted(store: TaskStore, axis = new TimeAxis(false)): { el: HTMLElement; texts: (selector: string) => (string | null)[] } {
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['resources'], { signal: new AbortController().signal, axis });
  vi.runOnlyPendingTimers();
  return { el, texts: selector => [...el.querySelectorAll(selector)].map(found => found.textContent) };
}

it('one sample is told in words, without a frame around a dot; two are drawn', () => {
  const seen = [1, 2].map(n => {
    const { el, texts } = mounted(storeOf(SAMPLES.slice(0, n), [RUN]));
    const isHidden = (selector: string): boolean | undefined => el.querySelector<HTMLElement>(selector)?.hidden;
    return [texts('.tsk-gauge-value'), texts('.tsk-series-foot p'), isHidden('.tsk-track-scroll'), isHidden('.tsk-track-empty')];
  });
  expect(seen).toEqual([
    [['–', '1 GB'], ['one sample'], true, true],
    [['75%', '3 GB'], ['3 processes; shared memory counted more than once'], false, true]
  ]);
});

describe('numbers', () => {
  it('of what has ended are the means and the peaks: CPU in parts of the available cores', () => {
    const { texts } = mounted(storeOf(SAMPLES, [RUN]));
    expect(texts('.tsk-resources td')).toEqual([
      'CPU', '30%', '75%', '750 ms', '100% = all 2 cores available',
      'Memory', '', '3 GB', '750 ms', 'limit 8 GB',
      'Processes', '', '3', '750 ms', ''
    ]);
    expect(texts('.tsk-series-foot p')).toEqual([
      '1 gap of 3 s without samples (striped); a memory peak in it was not seen · 2 processes; shared memory counted more than once'
    ]);
  });

  it('means and peaks are of the computes, and what their cell took afterwards is said apart', () => {
    const after: Sample = { at: 9, cpu: 200, rss: 7e9 };
    const { el, texts } = mounted(storeOf([...SAMPLES, after], [smallRun({ startS: 0.5, stopS: 4.5, status: 'finished' })]));
    expect(texts('.tsk-resources td').slice(0, 8)).toEqual(['CPU', '30%', '75%', '750 ms', '100% = all 2 cores available', 'Memory', '', '3 GB']);
    expect([...el.querySelectorAll('[role=meter]')].map(meter => [meter.getAttribute('aria-valuenow'), meter.getAttribute('aria-valuetext')])).toEqual([
      ['30', '30%, peak 75% · 100% = all 2 cores available'], ['38', '3 GB, limit 8 GB · afterwards 7 GB']
    ]);
  });

  it('at a time are those of the sample that stands for it, and CPU is the mean up to it', () => {
    const axis = new TimeAxis(false);
    const { el, texts } = mounted(storeOf(SAMPLES, [RUN]), axis);
    const canvas = el.querySelector('canvas');
    const read = Array.from({ length: 48 }, () => {
      canvas?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true }));
      vi.advanceTimersByTime(50);
      return texts('.tsk-series-readout div').slice(1).join(', ');
    });
    expect([...new Set(read)]).toEqual([
      'Memory 1 GB', 'CPU 75%, Memory 2.8 GB, Processes 3', 'no samples for 3 s, CPU 25% on average over the gap', 'CPU 50%, Memory 2.5 GB, Processes 2', 'no samples'
    ]);
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
  const spans = [[0, 0], [1, 1], [2, 2], [1, 2], [3, null]] as const;
  expect(spans.map(([firstRun, lastRun]) => sampleSpan(tables, { firstRun, lastRun }))).toEqual([
    { startS: 1, stopS: 2.5, endS: 2 },
    { startS: 2.5, stopS: 9, endS: 6 },
    { startS: 3, stopS: 9, endS: 4 },
    { startS: 2.5, stopS: 9, endS: 6 },
    { startS: 9, stopS: Infinity, endS: Infinity }
  ]);
});

it.each([[2, '100% = all 2 cores available'], [1, '100% = the one core available'], [null, '100% = one core']])('with %s cores the plot says that %s', (nCores, text) => {
  expect(mounted(storeOf(SAMPLES, [RUN], { nCores })).texts('.tsk-gauge-detail')[0]).toContain(text);
});

it('CPU is exact where it is not quite all', () => {
  expect([null, 0, 0.5, 0.999, 1.037].map(formatCpu)).toEqual(['–', '0%', '50%', '>99%', '104%']);
});
