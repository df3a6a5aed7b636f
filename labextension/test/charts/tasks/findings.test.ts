import { beforeEach, describe, expect, it, vi } from 'vitest';

import { adviceParts, findingsOf } from '../../../src/charts/tasks/why/findings';
import { evidenceOf, evidenceOfPath } from '../../../src/charts/tasks/why/path';
import { mountTracks } from '../../../src/charts/tracks';
import { type Keeper, Keeping } from '../../../src/charts/ui/keeping';
import { render } from '../../../src/charts/ui/render';
import type { TaskStore } from '../../../src/store';
import type { Explained, Explanation, Finding } from '../../../src/wire';
import { batchOf, storeWith } from '../../store/rows';
import { smallRun } from '../small-batch';
import { fakeTime } from '../../fake-time';

beforeEach(() => {
  fakeTime();
  // jsdom lays nothing out.
  vi.spyOn(Element.prototype, 'getClientRects').mockReturnValue([new DOMRect(0, 0, 1, 1)] as unknown as DOMRectList);
});

const FINDING: Finding = {
  cause: 'long-chain', worthS: 4, lowS: 0, highS: 5, text: 'tasks that need each other took 5 s', advice: 'cut it: x = x.persist(), or split <b>',
  run: 0, spansS: [[0, 10]], prefixes: ['inc'], rows: [0]
};
const EXPLANATION: Explanation = {
  makespanS: 10, answer: 'long-chain: up to 5 s', busy: null,
  findings: [FINDING, { ...FINDING, cause: 'client-gaps', lowS: 1, run: null, prefixes: [], rows: [], spansS: [[5, 6]] }],
  path: { path: [
    { kind: 'task', startS: 0, stopS: 5, prefix: 'inc', row: 0 }, { kind: 'wait', startS: 5, stopS: 6, cause: 'queue' },
    { kind: 'task', startS: 6, stopS: 10, prefix: 'inc', row: 1 }
  ] }
};
const OVER = smallRun({ startS: 0, stopS: 10, status: 'finished' });

function filled(runs = [OVER]): TaskStore {
  const store = storeWith(batchOf([{ start: 0, stop: 5 }, { start: 5, stop: 9, lane: 1 }, { start: 6, stop: 7, group: 1, lane: 1 }], {
    nowS: 10, active: runs.some(({ status }) => status === 'running'), runs,
    groups: ['inc', 'dec'].map((prefix, id) => ({ id, name: `${prefix}-1`, prefix, colour: id }))
  }), { clockMs: () => performance.now() });
  return store;
}

/** Mount the lanes with a kernel that gives these answers in turn. */
async function mounted(store: TaskStore, ...answers: Explained[]): Promise<{ el: HTMLElement; asked: unknown[]; settle: () => Promise<void> }> {
  const asked: unknown[] = [];
  const explain: Keeper['explain'] = runRange => {
    asked.push(runRange);
    const answer = answers.shift();
    return answer === undefined ? Promise.reject(new Error('the kernel does not answer')) : Promise.resolve(answer);
  };
  const keeper = { explain, save: () => Promise.resolve(''), compare: () => Promise.resolve(), story: () => Promise.resolve([]) };
  const el = document.body.appendChild(document.createElement('div'));
  mountTracks(el, store, ['tasks'], { signal: new AbortController().signal, keeping: new Keeping(keeper), findings: findingsOf(keeper) });
  const settle = async (): Promise<void> => { await vi.advanceTimersByTimeAsync(50); };
  await settle();
  return { el, asked, settle };
}

const cards = (el: HTMLElement): (string | null)[] => [...el.querySelectorAll('.tsk-findings li')].map(card => card.textContent);
const lit = (el: HTMLElement): (string | null)[] => [...el.querySelectorAll('.tsk-findings li > button')].map(button => button.getAttribute('aria-pressed'));
const pressKey = (el: HTMLElement, key: string): void => { el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); };
const line = (el: HTMLElement): string | null => el.querySelector<HTMLElement>('.tsk-findings-path:not([hidden])')?.textContent ?? null;

const explained = { kind: 'explained', explanation: EXPLANATION } as const;

describe('findings', () => {
  it('are cards with their worth and what to do, calls as code', async () => {
    const { el, asked } = await mounted(filled(), explained);
    expect([asked, cards(el), [...el.querySelectorAll('code')].map(code => code.textContent)]).toEqual([
      [{ firstRun: 0, lastRun: 0 }],
      [
        'Long chain up to 5 s of 10 stasks that need each other took 5 scut it: x = x.persist(), or split <b> Copy',
        'Gaps between computes about 4 s (1 s to 5 s) of 10 stasks that need each other took 5 scut it: x = x.persist(), or split <b> Copy'
      ],
      ['x = x.persist()', 'x = x.persist()']
    ]);
  });

  it('are asked for once a compute has ended, not before, and not while nobody looks', async () => {
    const store = filled([smallRun({ startS: 0 })]);
    const { el, asked, settle } = await mounted(store, explained);
    const counts = [asked.length];
    const rects = vi.spyOn(Element.prototype, 'getClientRects').mockReturnValue([] as unknown as DOMRectList);
    store.append(batchOf([], { seq: 1, first: 3, nowS: 11, active: false, runs: [OVER] }));
    await settle();
    counts.push(asked.length);
    rects.mockReturnValue([new DOMRect(0, 0, 1, 1)] as unknown as DOMRectList);
    store.append(batchOf([], { seq: 2, first: 3, nowS: 12, active: false, runs: [OVER] }));
    await settle();
    counts.push(asked.length);
    store.append(batchOf([], { seq: 3, first: 3, nowS: 13, active: false, runs: [OVER] }));
    await settle();
    expect([counts, asked.length, cards(el).length]).toEqual([[0, 0, 1], 1, 2]);
  });

  it('are said to be looked for until the kernel answers', async () => {
    let answer: (of: Explained) => void = () => undefined;
    const keeper = { explain: () => new Promise<Explained>(resolve => { answer = resolve; }), story: () => Promise.resolve([]) };
    const el = document.body.appendChild(document.createElement('div'));
    mountTracks(el, filled(), ['tasks'], { signal: new AbortController().signal, findings: findingsOf(keeper) });
    await vi.advanceTimersByTimeAsync(50);
    const before = line(el);
    answer(explained);
    await vi.advanceTimersByTimeAsync(50);
    expect([before, line(el), cards(el).length]).toEqual(['looking for causes…', null, 2]);
  });

  it('are asked for again when the kernel rests, as late as it says', async () => {
    const { el, asked, settle } = await mounted(filled(), { kind: 'later', waitS: 2 }, explained);
    await vi.advanceTimersByTimeAsync(1900);
    const before = asked.length;
    await vi.advanceTimersByTimeAsync(100);
    await settle();
    expect([before, asked.length, cards(el).length]).toEqual([1, 2, 2]);
  });

  it.each<[string, Explained | null]>([
    ['where nothing was found', { kind: 'explained', explanation: { ...EXPLANATION, findings: [] } }],
    ['where nothing can be said', { kind: 'none', reason: 'these computes are no longer kept' }],
    ['where the kernel does not answer', null]
  ])('are nothing at all %s', async (_, answer) => {
    const { el } = await mounted(filled(), ...(answer === null ? [] : [answer]));
    expect([el.querySelector('.tsk-findings'), line(el)]).toEqual([null, null]);
  });

  it('are lit up by a click, one at a time, and by none with a second click or Escape', async () => {
    const { el, settle } = await mounted(filled(), explained);
    const buttons = el.querySelectorAll<HTMLButtonElement>('.tsk-findings li > button');
    const states = [lit(el)];
    const act = async (does: () => void): Promise<void> => {
      does();
      await settle();
      states.push(lit(el));
    };
    await act(() => { buttons[0]?.click(); });
    await act(() => { buttons[1]?.parentElement?.click(); });
    await act(() => { buttons[1]?.click(); });
    await act(() => { buttons[0]?.click(); });
    await act(() => { buttons[0]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })); });
    await act(() => { buttons[1]?.click(); });
    await act(() => { pressKey(el, 'Escape'); });
    expect(states).toEqual([
      ['false', 'false'], ['true', 'false'], ['false', 'true'], ['false', 'false'], ['true', 'false'], ['false', 'false'], ['false', 'true'], ['false', 'false']
    ]);
  });

  it('go when another compute begins', async () => {
    const store = filled();
    const { el, settle } = await mounted(store, explained);
    store.append(batchOf([], { seq: 1, first: 3, nowS: 11, active: true, runs: [smallRun({ run: 1, startS: 11 })] }));
    await settle();
    expect(cards(el)).toEqual([]);
  });
});

it('why of a range is not asked again once the chart has left the page', async () => {
  const answers: ((of: Explained) => void)[] = [];
  const controller = new AbortController();
  const findings = findingsOf({ explain: () => new Promise<Explained>(resolve => { answers.push(resolve); }), story: () => Promise.resolve([]) })(
    { store: filled(), isSeen: () => true, changed: () => undefined }, controller.signal
  );
  render(findings.button({ startS: 1, stopS: 2 }), document.body);
  document.querySelector('button')?.click();
  controller.abort();
  answers[0]?.({ kind: 'later', waitS: 2 });
  await vi.advanceTimersByTimeAsync(5000);
  expect(answers.length).toBe(1);
});

it('the critical path: is lit up by a key, and said; by a button, too, once it is known', async () => {
  const store = filled([smallRun({ startS: 0 })]);
  const { el, settle } = await mounted(store, explained);
  const button = (): HTMLButtonElement | null => el.querySelector<HTMLButtonElement>('button[aria-label="Light up the critical path (C)"]');
  const states = [[button()?.hidden, line(el)]];
  pressKey(el, 'c');
  await settle();
  states.push([button()?.hidden, line(el)]);
  store.append(batchOf([], { seq: 1, first: 3, nowS: 11, active: false, runs: [OVER] }));
  await settle();
  states.push([button()?.hidden, line(el)]);
  button()?.click();
  await settle();
  states.push([button()?.hidden, line(el)]);
  expect(states).toEqual([
    [true, null],
    [false, 'the critical path is not known: these computes have not ended'],
    [false, 'critical path: 2 tasks, 9 s · waits: queue for a worker 1 s'],
    [false, null]
  ]);
});

it('evidence is the tasks that it names, else those of its prefixes, else all of its compute, else a time alone', () => {
  const store = filled();
  const runRange = { firstRun: 0, lastRun: null };
  const rows = (finding: Partial<Finding>): number[][] | undefined => {
    const { matches } = evidenceOf(store, runRange, { ...FINDING, ...finding });
    return matches === null ? undefined : [0, 1].map(lane => [...(matches.lane(lane)?.row.slice(0, matches.lane(lane)?.n) ?? [])]);
  };
  expect([rows({}), rows({ rows: [] }), rows({ rows: [], prefixes: ['dec'] }), rows({ rows: [], prefixes: [] }), rows({ rows: [], prefixes: [], run: 1 }), rows({ rows: [], prefixes: [], run: null })]).toEqual([
    [[0], []], [[0], [1]], [[], [2]], [[0], [1, 2]], [[], []], undefined
  ]);
  const path = evidenceOfPath(store, runRange, [0, 2, null].map(row => ({ kind: 'task', startS: 0, stopS: 1, prefix: 'inc', row })));
  expect([path.matches?.lane(1)?.n, path.spans, evidenceOf(store, runRange, FINDING).spans]).toEqual([1, [], [{ startS: 0, stopS: 10 }]]);
});

it.each([
  ['build first: dask.compute(a, b, c)', ['dask.compute(a, b, c)']],
  ['use processes: compute(scheduler="processes"), or a LocalCluster', ['compute(scheduler="processes")']],
  ['combine in a tree (split_every), or split', []],
  ['combine in a tree (split_every=8), or split', ['split_every=8']],
  ['set MKL_NUM_THREADS=1, or threadpoolctl.threadpool_limits(1)', ['MKL_NUM_THREADS=1', 'threadpoolctl.threadpool_limits(1)']]
])('of the advice "%s" the calls are code', (advice, code) => {
  const parts = adviceParts(advice);
  expect([parts.map(({ text }) => text).join(''), parts.filter(({ isCode }) => isCode).map(({ text }) => text)]).toEqual([advice, code]);
});
