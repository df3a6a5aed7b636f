/** Whatever a chart says goes through the translator it was given: in its elements, their attributes and on canvas. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { mount } from '../../src/charts/dashboard';
import { causeTitle, findingsOf } from '../../src/charts/tasks/why/findings';
import { stopWith } from '../../src/charts/progress/stopper';
import { Keeping } from '../../src/charts/ui/keeping';
import { type TranslationBundle, english, setTranslator } from '../../src/lib/translate';
import { TaskStore } from '../../src/store';
import type { Batch, Explained, Finding } from '../../src/wire';
import { batchOf, storeWith } from '../store/rows';
import { heldColumns, resourceColumns } from '../store/series';
import { type SmallBatch, smallBatch, smallProgress, smallRun } from './small-batch';
import { fakeTime } from '../fake-time';

const ATTRIBUTES = ['title', 'aria-label', 'aria-valuetext', 'aria-description', 'aria-roledescription', 'placeholder', 'alt'];
const UNITS = /\d ?(?:s|ms|µs|ns|min|h|d|B|kB|MB|GB|TB)\b/gu;
/** What the kernel or the user named, and keys of the keyboard. */
const NAMES = /DATA[\w-]*|\bIn \[\d+\]/gu;

const marked: TranslationBundle = {
  __: (...of) => `⟦${english.__(...of)}⟧`,
  _n: (...of) => `⟦${english._n(...of)}⟧`
};

const painted = new Set<string>();

/** A canvas that remembers what was written on it. */
function fakeContext(): CanvasRenderingContext2D {
  const own: Record<string | symbol, unknown> = {
    fillText: (text: string) => painted.add(text),
    measureText: (text: string) => ({ width: text.length * 6 }),
    createImageData: (width: number, height: number) => ({ data: new Uint8ClampedArray(width * height * 4) })
  };
  return new Proxy(own, {
    get: (target, name) => target[name] ?? (() => undefined),
    set: () => true
  }) as unknown as CanvasRenderingContext2D;
}

/** What is left of a text without what the translator made of it. */
function untranslated(text: string): string {
  let left = text;
  for (let before = ''; before !== left; ) {
    before = left;
    left = left.replace(/⟦[^⟦⟧]*⟧/gu, '');
  }
  return left.replace(UNITS, '').replace(NAMES, '').trim();
}

function literals(root: HTMLElement): string[] {
  const elements = [root, ...root.querySelectorAll('*')];
  const texts = elements.flatMap(el => [
    ...[...el.childNodes].flatMap(node => (node.nodeType === Node.TEXT_NODE ? [node.textContent ?? ''] : [])),
    ...ATTRIBUTES.map(name => el.getAttribute(name) ?? '')
  ]);
  // A pair of marks may be cut in two by an ellipsis on canvas; what has one end was translated.
  return [...new Set([...texts, ...painted])].filter(text => /\p{L}{2}/u.test(untranslated(text)) && !/[⟦⟧]/u.test(untranslated(text)));
}

beforeEach(() => {
  fakeTime();
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(fakeContext as never);
  vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation(() => undefined);
  painted.clear();
  setTranslator(marked);
});

afterEach(() => { setTranslator(english); });

const TABLES: Partial<SmallBatch> = {
  nowS: 10,
  groups: ['DATA-a', 'DATA-b', 'DATA-c'].map((prefix, id) => ({ id, name: `${prefix}-1`, prefix, colour: id })),
  lanes: [0, 1].map(id => ({ id, worker: 'DATA', thread: id, label: `DATA-${id}` })),
  progress: [smallProgress({ prefix: 'DATA-a', finished: 4, erred: 1, running: 1, interrupted: 1, skipped: 2 }), ...Array.from({ length: 10 }, (_, i) => smallProgress({ prefix: `DATA-${i}` }))],
  resources: resourceColumns([{ at: 0, cpu: null, rss: 1e9 }, { at: 5, cpu: 100, rss: 2e9, gap: true, n: 3 }, { at: 10, cpu: 200, rss: 1e9 }]),
  held: heldColumns([{ at: 2, keys: 3, bytes: 3000, unsized: 1, value: 4, unvalued: 1 }, { at: 9, keys: 0, value: 0 }], { metrics: new Map([[0, 'DATA-metric']]) }),
  remarks: [{ timeS: 1, level: 'warning', text: 'DATA-remark', worker: null, event: null }],
  dropped: 5
};

const TASKS = [
  { start: 0, stop: 2, key: [0], cpuS: 1, nbytes: 1023 },
  { start: 2, stop: 4, key: 'DATA-key', group: 1, lane: 1, status: 1, error: 'DATA-error' },
  { start: 4, stop: 5, key: [1], group: 2, status: 2, scheduler: true },
  { start: 6, stop: 7, key: [2], group: 2, status: 3, lane: 1 }
];
const RUN = { label: 'DATA-label', executionCount: 5, cell: 'DATA-cell', nTasks: 9 };
const RUNNING = {
  ...TABLES,
  runs: [smallRun({ ...RUN, stopS: 5, status: 'erred', error: 'DATA-error' }), smallRun({ ...RUN, run: 1, startS: 6 })],
  running: [{ run: 1, lane: 0, group: 0, keyText: 'DATA-open', startS: 8 }],
  estimates: [{ run: 1, stopS: 15, earliestS: 12, latestS: 30, nUnseen: 2 }],
  stops: [{ run: 1, way: 'cancel' as const }],
  liveStates: [{ run: 1, text: 'DATA-state' }]
};

const MOMENTS: Record<string, Batch | null> = {
  'before anything came': null,
  'while the first compute begins': smallBatch({ nowS: 1, runs: [smallRun()] }),
  'while a compute runs': batchOf(TASKS, RUNNING),
  'after a compute without tasks': smallBatch({ nowS: 9, active: false, runs: [smallRun({ nTasks: 0, stopS: 1, status: 'finished' })] }),
  'after a compute with nothing to do': smallBatch({ nowS: 9, active: false, runs: [smallRun({ nTasks: 0, stopS: 1, status: 'finished' })], progress: [smallProgress({ prefix: 'DATA-a', total: 0, skipped: 9 })] }),
  'after an interrupt': batchOf(TASKS, { ...TABLES, active: false, runs: [smallRun({ ...RUN, stopS: 9, status: 'interrupted' })] })
};

/** Open whatever can be opened, and use every button and key. */
function useEverything(root: HTMLElement): void {
  const pause = (): void => { vi.advanceTimersByTime(300); };
  for (const canvas of root.querySelectorAll('canvas')) {
    for (const key of ['n', '?', 't', '/', 'Home', 'p', 'r', 'ArrowRight', 'ArrowRight']) {
      canvas.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey: key === 'ArrowRight', bubbles: true }));
      pause();
    }
    for (const [clientX, clientY] of [[400, 10], [700, 50], [250, 15]] as const) {
      canvas.dispatchEvent(new MouseEvent('pointermove', { clientX, clientY, bubbles: true }));
      canvas.dispatchEvent(new MouseEvent('click', { clientX, clientY, bubbles: true }));
      pause();
    }
  }
  for (const button of [...root.querySelectorAll('button')]) {
    button.click();
    pause();
  }
}

describe.each(Object.entries(MOMENTS))('a dashboard %s', (_, batch) => {
  it('has no text that was not translated', () => {
    const store = new TaskStore();
    if (batch !== null) {
      store.append(batch);
    }
    const options = { signal: new AbortController().signal, reveal: () => () => undefined };
    const { el } = mount(document.body, store, { ...options, stop: stopWith(() => Promise.resolve('⟦said by the kernel⟧')) });
    vi.advanceTimersByTime(300);
    const atFirst = literals(el);
    useEverything(el);
    expect([...atFirst, ...literals(el)]).toEqual([]);
    expect(el.textContent).toContain('⟦');
  }, 60_000);
});

it('findings and the critical path have no text that was not translated', async () => {
  vi.spyOn(Element.prototype, 'getClientRects').mockReturnValue([new DOMRect(0, 0, 1, 1)] as unknown as DOMRectList);
  const store = storeWith(batchOf(TASKS, { ...TABLES, active: false, runs: [smallRun({ ...RUN, stopS: 9, status: 'finished' })] }));
  const finding: Finding = {
    cause: 'stragglers', worthS: 1, lowS: 1, highS: 2, text: 'DATA-text', advice: 'DATA-advice', run: 0, spansS: [[0, 9]], prefixes: [], rows: []
  };
  const explained: Explained = {
    kind: 'explained',
    explanation: { makespanS: 9, answer: 'long-chain: up to 5 s', busy: null, findings: [finding, { ...finding, lowS: 0 }], path: { path: [
        { kind: 'wait', startS: 0, stopS: 2, cause: 'client' }, { kind: 'wait', startS: 2, stopS: 3, cause: 'queue' },
        { kind: 'task', startS: 3, stopS: 9, prefix: 'DATA', row: 1 }
      ] }
    }
  };
  const keeper = { explain: () => Promise.resolve(explained), save: () => Promise.resolve('DATA'), compare: () => Promise.resolve(), story: () => Promise.resolve([]) };
  const { el } = mount(document.body, store, { signal: new AbortController().signal, keeping: new Keeping(keeper), findings: findingsOf(keeper) });
  await vi.advanceTimersByTimeAsync(300);
  el.querySelector('canvas')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }));
  await vi.advanceTimersByTimeAsync(300);
  expect([el.querySelectorAll('.tsk-findings li').length, el.querySelector<HTMLElement>('.tsk-findings-path')?.hidden, literals(el)]).toEqual([2, false, []]);
  expect(causeTitle('of a later kernel')).toBe('of a later kernel');
});
