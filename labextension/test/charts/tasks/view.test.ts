import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { TimelineChart } from '../../../src/charts/timeline/timeline';
import { type TracksOptions, mountTracks } from '../../../src/charts/tracks';
import { TaskStore } from '../../../src/store';
import { type Row, batchOf, storeWith } from '../../store/rows';
import { smallProgress, smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';
import type { RunStatus } from '../../../src/wire';

beforeEach(fakeTime);

const FINISHED = [smallRun({ startS: 0, stopS: 10, status: 'finished' })];

function filled(active = false): TaskStore {
  const store = storeWith(batchOf([{ start: 0, stop: 5, key: '</script><b>' }], {
    nowS: 10, active, runs: active ? [smallRun()] : FINISHED, progress: [smallProgress({ prefix: 'inc', finished: 1, durationS: 5 })]
  }), { clockMs: () => performance.now() });
  return store;
}

function mounted(store: TaskStore, options: Partial<TracksOptions> = {}): { el: HTMLElement; controller: AbortController; chart: TimelineChart } {
  const el = document.body.appendChild(document.createElement('div'));
  const controller = new AbortController();
  return { el, controller, chart: mountTracks(el, store, ['tasks'], { signal: controller.signal, ...options }) };
}

const text = (el: HTMLElement, selector: string): string | null => el.querySelector(selector)?.textContent ?? null;

it('mounting: shows what it waits for, then the tasks', () => {
  const store = new TaskStore();
  const { el } = mounted(store);
  expect([text(el, '.tsk-gantt-empty'), el.querySelector<HTMLElement>('.tsk-gantt-scroll')?.hidden]).toEqual(['no tasks yet', true]);
  store.append(batchOf([{ start: 0, stop: 1 }], { runs: FINISHED, progress: [smallProgress({ finished: 1 })] }));
  vi.runOnlyPendingTimers();
  expect([text(el, '.tsk-gantt-state'), el.querySelector<HTMLElement>('.tsk-gantt-empty')?.hidden]).toEqual(['1 task · 1 thread', true]);
});

describe('painting', () => {
  it('paints no bars anew when the pointer moves: what is under it stands in elements above', () => {
    const painted = { bars: 0 };
    const known: Record<string | symbol, unknown> = {
      putImageData: () => { painted.bars += 1; },
      measureText: (words: string) => ({ width: words.length * 6 }),
      createImageData: (width: number, height: number) => ({ width, height, data: new Uint8ClampedArray(width * height * 4) })
    };
    const context = new Proxy(known, { get: (target, name) => target[name] ?? (() => undefined), set: () => true });
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
    const { el } = mounted(filled());
    vi.runAllTimers();
    const before = painted.bars;
    const seen = [90, 100, 110].map(clientX => {
      el.querySelector('canvas')?.dispatchEvent(new MouseEvent('pointermove', { clientX, clientY: 10, bubbles: true }));
      vi.runAllTimers();
      return [el.querySelector<HTMLElement>('.tsk-over-cursor')?.style.left, el.querySelectorAll('.tsk-over-box').length];
    });
    expect([before > 0, painted.bars - before, seen]).toEqual([true, 0, [['22px', 1], ['32px', 1], ['42px', 1]]]);
    vi.restoreAllMocks();
  });

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
  it('reads of every key of the chart what it does', () => {
    const { el } = mounted(filled());
    expect([...el.querySelectorAll('.tsk-track-help dt')].map(dt => dt.textContent)).toEqual([
      '← → or A D', '+ − or W S', 'Home', 'F', '↑ ↓, Page Up, Page Down', 'N P', 'J K', 'Z', 'R', '/', 'G, Shift+G', 'Shift+C', 'X', 'Shift+← →', 'Shift+A D', 'Esc', '?'
    ]);
  });

  it('reads the keys in a box that a key opens; Escape, a press elsewhere and the next compute close it', () => {
    const store = filled();
    const { el } = mounted(store, { shows: 'now' });
    const [canvas, help] = ['canvas', '[role=dialog]'].map(selector => el.querySelector<HTMLElement>(selector)) as [HTMLElement, HTMLElement];
    const states: unknown[] = [];
    const note = (): void => { states.push([help.hidden, document.activeElement?.tagName]); };
    const key = (target: HTMLElement, name: string): void => { target.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true })); note(); };
    note();
    key(canvas, '?');
    key(help, 'Escape');
    key(canvas, '?');
    document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    note();
    key(canvas, '?');
    store.append(batchOf([], { seq: 1, first: 1, nowS: 11, active: true, runs: [smallRun({ run: 1, startS: 11 })] }));
    vi.advanceTimersByTime(50);
    note();
    expect(states).toEqual([[true, 'BODY'], [false, 'DIV'], [true, 'CANVAS'], [false, 'DIV'], [true, 'DIV'], [false, 'DIV'], [true, 'DIV']]);
  });

  it('finds a thread by the same name in the tip, the card and the table, which the kernel has given it', () => {
    const store = storeWith(batchOf([{ start: 0, stop: 5, key: 'a' }], {
      nowS: 10, active: false, runs: FINISHED, lanes: [{ id: 0, worker: '1', thread: 1, label: 'thread 1 of pool 2' }], progress: [smallProgress({ prefix: 'inc', finished: 1, durationS: 5 })]
    }), { clockMs: () => performance.now() });
    const { el } = mounted(store);
    vi.runAllTimers();
    const at = (name: string): Event => new MouseEvent(name, { clientX: 120, clientY: 10, bubbles: true });
    const threads = (): string[] => [...el.querySelectorAll('.tsk-gantt-tip dt, .tsk-gantt-card dt')].flatMap(dt => (dt.textContent === 'Thread' ? [dt.nextElementSibling?.textContent ?? ''] : []));
    el.querySelector('canvas')?.dispatchEvent(at('pointermove'));
    vi.runAllTimers();
    const hovered = threads();
    for (const name of ['pointerdown', 'pointerup']) {
      el.querySelector('canvas')?.dispatchEvent(at(name));
    }
    vi.runAllTimers();
    expect([hovered, threads(), el.querySelector('.tsk-gantt-tables')?.textContent.includes('thread 1 of pool 2')]).toEqual([['thread 1 of pool 2'], ['thread 1 of pool 2'], true]);
  });

  it('follows, fits and zooms by button, and the host hears of it', () => {
    const onFollow = vi.fn();
    const onTimeRange = vi.fn();
    const { el, chart } = mounted(filled(), { onFollow, onTimeRange });
    const [, zoomIn, fit, follow] = [...el.querySelectorAll<HTMLButtonElement>('.tsk-toolbar > button')];
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

  it('finds tasks, goes to one, and comes back with Escape', () => {
    const { el } = mounted(filled());
    vi.runAllTimers();
    const canvas = el.querySelector('canvas');
    canvas?.dispatchEvent(new KeyboardEvent('keydown', { key: '/' }));
    const input = el.querySelector<HTMLInputElement>('input[type=search]')!;
    expect(document.activeElement).toBe(input);
    const said = (): string | undefined => el.querySelector('.tsk-gantt-find [role=status]')?.textContent;
    const states = ['script', 'nothing like it'].map(text => {
      input.value = text;
      input.dispatchEvent(new Event('input'));
      vi.runAllTimers();
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      vi.runAllTimers();
      return said();
    });
    expect([states, text(el, '.tsk-gantt-card .tsk-gantt-tip-key')]).toEqual([['1 of 1 matches', 'no match'], '</script><b>']);
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect([document.activeElement, el.querySelector<HTMLElement>('.tsk-gantt-find')?.hidden]).toEqual([canvas, true]);
  });

  it('selects tasks by keys alone', () => {
    const store = storeWith(batchOf([{ start: 0, stop: 1, key: [1] }, { start: 2, stop: 3, key: [2] }, { start: 2.5, stop: 3, lane: 1, key: [3] }], {
      runs: [smallRun({ startS: 0, stopS: 3, status: 'finished' })], nowS: 3, active: false
    }));
    const { el } = mounted(store);
    vi.runAllTimers();
    const keys = ['n', 'n', 'j', 'k', 'p', 'p', 'Escape'].map(key => {
      el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key }));
      return store.selection.current?.key ?? null;
    });
    expect(keys).toEqual(["('inc-1', 2)", "('inc-1', 2)", "('inc-1', 3)", "('inc-1', 2)", "('inc-1', 1)", "('inc-1', 1)", null]);
  });

  it('zooms to the selected task: it fills the chart, also where it is most of what there is', () => {
    const store = storeWith(batchOf([{ start: 3, stop: 8 }], { runs: [smallRun({ startS: 0, stopS: 10, status: 'finished' })], nowS: 10, active: false }));
    const { el, chart } = mounted(store);
    vi.runAllTimers();
    for (const key of ['n', 'z']) {
      el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key }));
      vi.runAllTimers();
    }
    expect(chart.timeRange()).toEqual([2.5, 8.5]);
  });

  it('pauses: the picture stands, recording goes on', () => {
    const store = filled(true);
    const { el, chart } = mounted(store);
    vi.advanceTimersByTime(50);
    const pause = [...el.querySelectorAll<HTMLButtonElement>('.tsk-toolbar > button')].find(button => button.textContent === 'Pause');
    pause?.click();
    vi.advanceTimersByTime(5000);
    store.append(batchOf([], { seq: 1, nowS: 20, active: true }));
    vi.advanceTimersByTime(50);
    const held = [chart.timeRange()?.map(Math.round), text(el, '.tsk-gantt-state')?.split(' · ')[0], pause?.getAttribute('aria-pressed')];
    pause?.click();
    vi.advanceTimersByTime(50);
    expect([held, chart.timeRange()?.map(Math.round)]).toEqual([[[0, 10], 'paused at 10.1 s', 'true'], [0, 21]]);
  });

  it('clears what is over, and shows it again', () => {
    const store = filled(true);
    store.append(batchOf([], { seq: 1, nowS: 11, active: false, runs: FINISHED }));
    const { el } = mounted(store);
    store.append(batchOf([], { seq: 2, nowS: 11, active: true, runs: FINISHED }));
    vi.advanceTimersByTime(50);
    const item = (): HTMLButtonElement | undefined => [...el.querySelectorAll<HTMLButtonElement>('[aria-label=Computes] > [role=menuitem]')].at(-1);
    const states = [item()?.textContent];
    item()?.click();
    vi.advanceTimersByTime(50);
    states.push(text(el, '.tsk-gantt-empty') ?? '', item()?.textContent);
    item()?.click();
    vi.advanceTimersByTime(50);
    states.push(text(el, '.tsk-gantt-state') ?? '');
    expect(states).toEqual(['Clear, show new tasks only', 'cleared: waiting for the next compute', 'Show all computes again', '1 task · 1 thread']);
  });

  it('collapses a worker by its button, and all by a key', () => {
    const store = new TaskStore();
    const lanes = [0, 1, 2, 3].map(id => ({ id, worker: `w${id >> 1}`, thread: id, label: `thread ${id}` }));
    store.append(batchOf(lanes.map(({ id }) => ({ start: 0, stop: 1, lane: id })), { lanes, runs: FINISHED, active: false }));
    const { el } = mounted(store);
    vi.runAllTimers();
    const states = (): (string | null)[] => [...el.querySelectorAll('.tsk-gantt-worker')].map(button => button.getAttribute('aria-expanded'));
    const seen = [states()];
    el.querySelector<HTMLButtonElement>('.tsk-gantt-worker')?.click();
    vi.runAllTimers();
    seen.push(states());
    for (let i = 0; i < 2; i += 1) {
      el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'C', shiftKey: true }));
      vi.runAllTimers();
      seen.push(states());
    }
    expect(seen).toEqual([['true', 'true'], ['false', 'true'], ['false', 'false'], ['true', 'true']]);
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

describe('selection', () => {
  it('is shared by all views of a store, and told to each host once', () => {
    const store = filled();
    const told = [vi.fn(), vi.fn()];
    const [one, other] = told.map(onSelectedKey => mounted(store, { onSelectedKey })) as [ReturnType<typeof mounted>, ReturnType<typeof mounted>];
    vi.runAllTimers();
    one.el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }));
    vi.runAllTimers();
    expect([text(other.el, '.tsk-gantt-card .tsk-gantt-tip-key'), told.map(fn => fn.mock.calls)]).toEqual([
      '</script><b>', [[['</script><b>']], [['</script><b>']]]
    ]);
  });

  it('by the host is found by its key and not told back; a task in flight is found again when it ended', () => {
    const onSelectedKey = vi.fn();
    const store = filled(true);
    const { el, chart } = mounted(store, { onSelectedKey });
    const rows = (): (string | null)[] => [...el.querySelectorAll('.tsk-gantt-card:not([hidden]) dd')].map(cell => cell.textContent);
    store.append(batchOf([], { seq: 1, nowS: 10, running: [{ run: 0, lane: 1, group: 1, keyText: 'late', startS: 6 }] }));
    chart.setSelectedKey('late');
    vi.advanceTimersByTime(50);
    const inFlight = rows().slice(0, 4);
    store.append(batchOf([{ start: 6, stop: 11, lane: 1, group: 1, key: 'late' }], { seq: 2, first: 1, nowS: 11 }));
    vi.advanceTimersByTime(50);
    expect([inFlight, rows().slice(0, 6)]).toEqual([['add', 'add-1', 'thread 2', 'running'], ['add', 'add-1', 'thread 2', 'finished', '6 s', '5 s']]);
    chart.setSelectedKey('no such key');
    vi.advanceTimersByTime(50);
    expect([rows(), text(el, '[role=status].tsk-hidden'), onSelectedKey.mock.calls]).toEqual([[], 'no such key is not among these tasks', []]);
  });
});

describe('without sight', () => {
  it('the canvas has a sentence and a table', () => {
    const { el } = mounted(filled());
    expect(el.querySelector('canvas')?.getAttribute('aria-label')).toBe(
      'Gantt chart: 1 thread over 10.2 s, mostly inc (10). Press question mark for its keys.'
    );
    expect([...el.querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent))).toEqual([
      ['Task type', 'Tasks', 'Finished', 'Failed', 'Interrupted', 'Running', 'Mean duration'], ['inc', '10', '1', '0', '0', '0', '5 s'],
      ['Thread', 'Worker', 'Tasks', 'Busy'], ['thread 1', 'main', '1', '50%']
    ]);
  });

  it('what a person points at in the legend does not begin the search anew', () => {
    const { el } = mounted(filled());
    el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key: '/' }));
    const input = el.querySelector<HTMLInputElement>('.tsk-gantt-find input')!;
    input.value = 'inc';
    input.dispatchEvent(new Event('input'));
    vi.runAllTimers();
    el.querySelector<HTMLElement>('.tsk-gantt-legend button')?.dispatchEvent(new Event('pointerenter'));
    const pointed = text(el, '.tsk-gantt-find [role=status]');
    el.querySelector<HTMLElement>('.tsk-gantt-legend button')?.click();
    expect([pointed, text(el, '.tsk-gantt-find [role=status]')]).toEqual(['1 match', 'searching…']);
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

const CODES: Partial<Record<RunStatus, number>> = { erred: 1, interrupted: 2 };

it.each<[RunStatus]>([['finished'], ['erred'], ['interrupted']])('finding, cards and selected times are of each compute, with one in the middle that is %s', middle => {
  const store = new TaskStore({ clockMs: () => 0 });
  const el = document.body.appendChild(document.createElement('div'));
  const controller = new AbortController();
  mountTracks(el, store, ['tasks'], { signal: controller.signal });
  const canvas = el.querySelector('canvas')!;
  const text = (selector: string): string | null => {
    const found = el.querySelector(selector);
    return found?.closest('[hidden]') === null ? found.textContent : null;
  };
  const press = (target: HTMLElement, key: string): void => {
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    vi.runAllTimers();
  };

  const uses = (['finished', middle, 'finished'] as const).map((status, use) => {
    const startS = 10 * use;
    const rows: Row[] = [
      { run: use, start: startS, stop: startS + 1, key: `first of ${use}` },
      { run: use, start: startS + 1, stop: startS + 3, group: 1, key: `last of ${use}`, status: CODES[status] ?? 0 }
    ];
    store.append(batchOf(rows, {
      seq: use, first: 2 * use, nowS: startS + 5, active: false,
      runs: [smallRun({ run: use, startS, stopS: startS + 3, nTasks: 2, status })]
    }));
    vi.runAllTimers();

    press(canvas, '/');
    const input = el.querySelector<HTMLInputElement>('input[type=search]')!;
    input.value = `last of ${use}`;
    input.dispatchEvent(new Event('input'));
    vi.runAllTimers();
    press(input, 'Enter');
    const found = [text('.tsk-gantt-find [role=status]'), text('.tsk-gantt-card .tsk-gantt-tip-key')];
    press(input, 'Escape');
    press(canvas, 'x');
    const range = text('.tsk-gantt-range p');
    press(canvas, 'Escape');
    press(canvas, 'Escape');
    return [...found, range, text('.tsk-gantt-range p'), text('.tsk-gantt-card')];
  });
  controller.abort();

  expect(uses).toEqual([0, 1, 2].map(use => ['1 of 1 matches', `last of ${use}`, `${use === 0 ? '' : use}0 s to ${use === 0 ? '' : use}3 s (3 s): 2 tasks`, null, null]));
});
