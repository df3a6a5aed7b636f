import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { mount } from '../../../src/charts/gantt';
import type { GanttOptions } from '../../../src/charts/gantt';
import { TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { countListeners } from '../listener-count';
import { smallProgress, smallRun } from '../small-batch';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'requestAnimationFrame', 'cancelAnimationFrame', 'performance']
  });
  // jsdom draws nothing; what is drawn is looked at in a browser.
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
});

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

const FINISHED = [smallRun({ startS: 0, stopS: 10, status: 'finished' })];

function filled(active = false): TaskStore {
  const store = new TaskStore({ clockMs: () => performance.now() });
  store.append(batchOf([{ start: 0, stop: 5, key: '</script><b>' }], {
    nowS: 10, active, runs: active ? [smallRun()] : FINISHED, progress: [smallProgress({ prefix: 'inc', finished: 1, durationS: 5 })]
  }));
  return store;
}

function mounted(store: TaskStore, options: Partial<GanttOptions> = {}): { el: HTMLElement; controller: AbortController; chart: ReturnType<typeof mount> } {
  const el = document.createElement('div');
  document.body.append(el);
  const controller = new AbortController();
  return { el, controller, chart: mount(el, store, { signal: controller.signal, ...options }) };
}

const text = (el: HTMLElement, selector: string): string | null => el.querySelector(selector)?.textContent ?? null;

describe('mounting', () => {
  it('shows what it waits for, then the tasks', () => {
    const store = new TaskStore();
    const { el } = mounted(store);
    expect([text(el, '.tsk-gantt-empty'), el.querySelector<HTMLElement>('.tsk-gantt-scroll')?.hidden]).toEqual(['waiting for the first task', true]);
    store.append(batchOf([{ start: 0, stop: 1 }], { runs: FINISHED, progress: [smallProgress({ finished: 1 })] }));
    vi.runOnlyPendingTimers();
    expect([text(el, '.tsk-gantt-state'), el.querySelector<HTMLElement>('.tsk-gantt-empty')?.hidden]).toEqual(['1 task · 1 lane', true]);
  });

  it('leaves no listener, frame, timer or element behind', () => {
    const listeners = countListeners();
    const store = filled(true);
    const { el, controller, chart } = mounted(store);
    vi.advanceTimersByTime(100);
    chart.setFollow(false);
    const canvas = el.querySelector('canvas');
    canvas?.dispatchEvent(new WheelEvent('wheel', { deltaY: 1 }));
    canvas?.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
    expect(listeners.alive()).toBeGreaterThan(10);
    controller.abort();
    expect([listeners.alive(), store.listenerCount, vi.getTimerCount(), el.childElementCount]).toEqual([0, 0, 0, 0]);
    store.append(batchOf([], { seq: 1 }));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('with a signal that is aborted already does nothing', () => {
    const store = filled();
    const { el } = mounted(store, { signal: AbortSignal.abort() });
    expect([el.childElementCount, store.listenerCount, vi.getTimerCount()]).toEqual([0, 0, 0]);
  });
});

describe('painting', () => {
  it('rests when nothing changes, and goes on while tasks grow', () => {
    const still = filled();
    mounted(still);
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(0);
    mounted(filled(true));
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('any number of batches between two frames are painted once', () => {
    const store = filled();
    mounted(store);
    vi.runOnlyPendingTimers();
    for (let seq = 1; seq < 50; seq += 1) {
      store.append(batchOf([], { seq, nowS: 10, active: false, runs: FINISHED }));
    }
    expect(vi.getTimerCount()).toBe(1);
  });
});

describe('the person', () => {
  it('follows, fits and zooms by button, and the host hears of it', () => {
    const onFollow = vi.fn();
    const onTimeRange = vi.fn();
    const { el, chart } = mounted(filled(), { onFollow, onTimeRange });
    const [, zoomIn, fit, follow] = [...el.querySelectorAll('button')];
    expect(follow?.getAttribute('aria-pressed')).toBe('true');
    fit?.click();
    vi.runAllTimers();
    zoomIn?.click();
    vi.runAllTimers();
    expect(follow?.getAttribute('aria-pressed')).toBe('false');
    expect(chart.timeRange()?.map(s => Math.round(s * 100) / 100)).toEqual([2.55, 7.65]);
    expect(onFollow.mock.calls).toEqual([[false]]);
    expect(onTimeRange.mock.calls).toEqual([[null], [chart.timeRange()]]);
  });

  it('hovers and selects a task; its key is text', () => {
    const onSelectedKey = vi.fn();
    const { el } = mounted(filled(), { onSelectedKey });
    vi.runAllTimers();
    const canvas = el.querySelector('canvas');
    const at = (name: string): Event => new MouseEvent(name, { clientX: 100, clientY: 10, bubbles: true });
    canvas?.dispatchEvent(at('pointermove'));
    vi.runAllTimers();
    expect(text(el, '.tsk-gantt-tip-key')).toBe('</script><b>');
    expect(el.querySelector('b')).toBeNull();
    canvas?.dispatchEvent(at('pointerdown'));
    canvas?.dispatchEvent(at('pointerup'));
    canvas?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    canvas?.dispatchEvent(new MouseEvent('pointerleave'));
    vi.runAllTimers();
    expect(onSelectedKey.mock.calls).toEqual([['</script><b>'], [null]]);
    expect(el.querySelector<HTMLElement>('.tsk-gantt-tip')?.hidden).toBe(true);
  });

  it('who scrolls the page past the chart is told how to zoom, for a moment', () => {
    const { el } = mounted(filled());
    vi.runAllTimers();
    const hint = el.querySelector<HTMLElement>('.tsk-gantt-hint');
    el.querySelector('canvas')?.dispatchEvent(new WheelEvent('wheel', { deltaY: 1 }));
    expect(hint?.hidden).toBe(false);
    vi.runAllTimers();
    expect(hint?.hidden).toBe(true);
  });
});

describe('without sight', () => {
  it('the canvas has a sentence and a table', () => {
    const { el } = mounted(filled());
    expect(el.querySelector('canvas')?.getAttribute('aria-label')).toBe(
      'Gantt chart: 1 lane over 10.2 s, mostly inc (10). Arrows or A and D pan, plus and minus zoom, Home shows all, F follows.'
    );
    expect([...el.querySelectorAll('td')].map(cell => cell.textContent)).toEqual(['inc', '10', '1', '0', '0', '0', '5 s']);
  });

  it('the table changes at most every 5 s while a compute runs', () => {
    const store = filled(true);
    const { el } = mounted(store);
    const table = (): string | undefined => el.querySelectorAll('td')[2]?.textContent;
    store.append(batchOf([], { seq: 1, nowS: 11, progress: [smallProgress({ prefix: 'inc', finished: 7 })] }));
    vi.advanceTimersByTime(4900);
    const before = table();
    vi.advanceTimersByTime(200);
    expect([before, table()]).toEqual(['1', '7']);
  });
});
