import { beforeEach, describe, expect, it, vi } from 'vitest';

import { mountTracks } from '../../../../src/charts/tracks';
import { freePlace, layoutPlots, roomOf } from '../../../../src/charts/timeline/drawing';
import { TimeAxis } from '../../../../src/charts/timeline/time';
import { TaskStore } from '../../../../src/store';
import { heldColumns, resourceColumns } from '../../../store/series';
import { type SmallBatch, smallBatch, smallRun } from '../../small-batch';
import { fakeTime } from '../../../fake-time';

beforeEach(fakeTime);

const SERIES: Partial<SmallBatch> = {
  nowS: 10,
  groups: [{ id: 0, name: '<b>-1', prefix: '<b>', colour: 0 }],
  runs: [smallRun({ startS: 0, stopS: 10, status: 'finished' })],
  active: false,
  resources: resourceColumns([{ at: 0, cpu: null, rss: 1e9 }, { at: 5, cpu: 100, rss: 2e9 }, { at: 10, cpu: 200, rss: 1e9 }]),
  held: heldColumns([{ at: 2, keys: 3, bytes: 3000 }, { at: 9, keys: 0 }])
};

function mounted(name: 'resources' | 'cache', batch: Partial<SmallBatch> | null, axis = new TimeAxis(false)): HTMLElement {
  const store = new TaskStore();
  if (batch !== null) {
    store.append(smallBatch(batch));
  }
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, [name], { signal: new AbortController().signal, axis });
  vi.advanceTimersByTime(50);
  return el;
}

const text = (el: HTMLElement, query: string): string | null =>
  [...el.querySelectorAll<HTMLElement>(query)].filter(found => !found.hidden).map(found => found.textContent).join(' ') || null;

it('cache says that what was held is not known where it is not', () => {
  const run = smallRun({ stopS: 1, status: 'interrupted' });
  const unknown = { nowS: 1, active: false, runs: [run], held: heldColumns([], { isUnknown: true }) };
  expect(text(mounted('cache', unknown), '.tsk-series-empty')).toBe('which results were in memory was not recorded');
});

describe.each(['resources', 'cache'] as const)('%s', name => {
  it('says what it waits for, and what there never was', () => {
    const running = { nowS: 1, runs: [smallRun()] };
    const over = { nowS: 1, active: false, runs: [smallRun({ stopS: 1, status: 'finished' as const })] };
    const said = [null, running, over].map(batch => text(mounted(name, batch), '.tsk-series-empty'));
    expect(said).toEqual(
      {
        resources: ['waiting for the first compute', 'no samples yet', 'no samples of CPU and memory for this compute'],
        cache: ['waiting for the first compute', 'no results in memory yet', 'no results were kept in memory']
      }[name]
    );
  });

  it('reads values by Shift and arrows, politely, and shares the cursor', () => {
    const axis = new TimeAxis(false);
    const el = mounted(name, SERIES, axis);
    const canvas = el.querySelector('canvas');
    for (let i = 0; i < 20; i += 1) {
      canvas?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true }));
    }
    vi.advanceTimersByTime(50);
    expect(axis.cursorS).toBeCloseTo(10.2 * 0.4, 9);
    expect(axis.view).toEqual({ kind: 'fit' });
    const readout = el.querySelector('.tsk-series-readout');
    expect([readout?.getAttribute('aria-live'), [...(readout?.children ?? [])].map(line => line.textContent)]).toEqual([
      'polite',
      { resources: ['at 4.08 s', 'CPU 50%', 'Memory 2 GB'], cache: ['at 4.08 s', '3 kB', '<b> 3 kB'] }[name]
    ]);
    canvas?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    expect(axis.cursorS).toBeNull();
  });
});

it('the cache says its peak as text and group by group, and can be counted in keys', () => {
  const el = mounted('cache', SERIES);
  expect(text(el, '.tsk-cache .tsk-series-foot p')).toBe('Peak 3 kB at 2 s: <b> 3 kB (100%)');
  expect([...el.querySelectorAll('td')].map(cell => cell.textContent)).toEqual(['<b>-1', '<b>', '3 kB']);
  const buttons = [...el.querySelectorAll<HTMLElement>('.tsk-cache-measures button')];
  expect(buttons.map(b => [b.textContent, b.hidden, b.getAttribute('aria-pressed')])).toEqual([
    ['Bytes', false, 'true'], ['Count', false, 'false'], ['Metric', true, 'false']
  ]);
  buttons[1]?.click();
  vi.advanceTimersByTime(50);
  expect(text(el, '.tsk-cache .tsk-series-foot p')).toBe('Peak 3 results at 2 s: <b> 3 (100%)');
  expect(el.querySelector('b')).toBeNull();
});

it('axes, gauges and words of a session are of what runs now, else of what ended last', () => {
  const store = new TaskStore();
  const large = smallRun({ startS: 0, stopS: 10, status: 'finished' });
  store.append(smallBatch({ ...SERIES, runs: [large] }));
  const els = (['resources', 'cache'] as const).map(name => {
    const el = document.body.appendChild(document.createElement('div'));
    mountTracks(el, store, [name], { signal: new AbortController().signal, shows: 'now' });
    return el;
  });
  const said = (): (string | null)[] => {
    vi.advanceTimersByTime(50);
    return els.flatMap((el, i) => [text(el, i === 0 ? '.tsk-gauge-detail' : '.tsk-cache .tsk-series-foot p')]);
  };
  const before = said();
  store.append(smallBatch({
    ...SERIES, seq: 1, nowS: 30, active: true, runs: [smallRun({ run: 1, startS: 20 })],
    resources: { ...resourceColumns([{ at: 21, cpu: 20, rss: 5e8 }, { at: 22, cpu: 40, rss: 4e8 }]), first: 3 },
    held: { ...heldColumns([{ run: 1, at: 22, keys: 1, bytes: 10 }]), first: 2 }
  }));
  expect([before, said()]).toEqual([
    ['peak 100% · 100% = all 2 cores available limit 8 GB', 'Peak 3 kB at 2 s: <b> 3 kB (100%)'],
    ['peak 20% · 100% = all 2 cores available peak 500 MB · limit 8 GB', 'Peak 10 B at 2 s: <b> 10 B (100%)']
  ]);
});

it('plots stand one below the other on one axis, and labels never on each other', () => {
  const spec = { title: 't', axis: { top: 1, ticks: [] }, heightPx: 50 };
  const { plots, heightPx } = layoutPlots([spec, spec]);
  const room = roomOf({ widthPx: 400, heightPx, leftPx: 60, scrollPx: 0, span: { startS: 0, stopS: 1 }, zeroS: 0 });
  expect([plots.map(plot => plot.topPx), room.heightPx, room.plotWidthPx]).toEqual([[18, 92], 142, 328]);
  const box = (leftPx: number) => ({ leftPx, topPx: 0, widthPx: 10, heightPx: 10 });
  expect([freePlace([box(5), box(12)], [box(0)]), freePlace([box(5)], [box(0)])]).toEqual([box(12), null]);
});

it.each([0.0468, 0.055, 0.24, 8.5, 24.9, 59, 90])('an axis that is 100 px wide has two labels at least, over %d s', spanS => {
  const { ticks } = roomOf({ widthPx: 200, heightPx: 50, leftPx: 88, scrollPx: 0, span: { startS: 0, stopS: spanS }, zeroS: 0 });
  expect(ticks.length).toBeGreaterThanOrEqual(2);
});
