import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { mountTracks } from '../../../src/charts/tracks';
import { TaskStore } from '../../../src/store';
import { resourceColumns } from '../../store/series';
import { smallBatch, smallRun } from '../small-batch';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'requestAnimationFrame', 'cancelAnimationFrame', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

it('one sample is told in words, without a frame around a dot; two are drawn', () => {
  const SAMPLES = [{ at: 1, cpu: 20, rss: 1e9 }, { at: 1.25, cpu: 150, rss: 3e9 }];
  const seen = [1, 2].map(n => {
    const store = new TaskStore();
    store.append(smallBatch({ nowS: 3, active: false, runs: [smallRun({ stopS: 2, status: 'finished' })], resources: resourceColumns(SAMPLES.slice(0, n)) }));
    const el = document.createElement('div');
    document.body.append(el);
    mountTracks(el, store, ['resources'], { signal: new AbortController().signal });
    vi.runOnlyPendingTimers();
    const text = (selector: string): (string | null)[] => [...el.querySelectorAll(selector)].map(found => found.textContent);
    const isHidden = (selector: string): boolean | undefined => el.querySelector<HTMLElement>(selector)?.hidden;
    return [text('.tsk-gauge-value'), text('.tsk-series-foot p'), isHidden('.tsk-track-scroll'), isHidden('.tsk-track-empty')];
  });
  expect(seen).toEqual([[['10%', '1 GB'], ['one sample'], true, true], [['75%', '3 GB'], ['gauges show the last sample'], false, true]]);
});
