import { h } from 'preact';
import { describe, expect, it } from 'vitest';

import type { FoundTask } from '../../../src/charts/tasks/find-task';
import { type PrefixSummary, Emphasis, Legend, MAX_LEGEND, summarise } from '../../../src/charts/tasks/legend';
import { Folding, LaneList } from '../../../src/charts/tasks/rows';
import { type Scene, sceneOf } from '../../../src/charts/tasks/scene';
import { emptyText, labelText, prefixTable, stateText, tipOf, beforeTables, stepsOf } from '../../../src/charts/tasks/words';
import { shownTime } from '../../../src/charts/timeline/time';
import { render } from '../../../src/charts/ui/render';
import { Table } from '../../../src/charts/ui/text-table';
import { type TaskDetail, ALL_RUNS, TaskStore } from '../../../src/store';
import { batchOf, storeWith } from '../../store/rows';
import { smallProgress, smallRun } from '../small-batch';

const TASK: TaskDetail = {
  key: "('sum-1', 7)", group: 'sum-1', prefix: 'sum', run: 0, startS: 12, stopS: 14,
  cpuS: 0.5, sizeBytes: 8_000_000, status: 'finished', observedBy: 'worker', error: null
};
const TIMES = { zeroS: 10, nowS: 20 };
const NAMES = { groups: [{ id: 0, name: 'sum-1', prefix: 'sum', colour: 0 }], runs: new Map([[0, smallRun({ executionCount: 5 })]]) };

function tip(detail: Partial<TaskDetail> = {}, sharing = 1): ReturnType<typeof tipOf> {
  const found: FoundTask = { kind: 'ended', ref: { lane: 0, row: 0, startS: 12 }, detail: { ...TASK, ...detail }, label: 'thread 1', sharing };
  return tipOf(found, TIMES, NAMES);
}

function fitted(store: TaskStore): Scene | null {
  const lanes = new LaneList(store, new Folding());
  const frame = shownTime(store, ALL_RUNS, { kind: 'fit' });
  return frame === null ? null : sceneOf(store, ALL_RUNS, frame, (...of) => lanes.refresh(...of));
}

describe('tooltip', () => {
  it('says all that is known, with units', () => {
    expect(tip()).toEqual({
      key: "('sum-1', 7)",
      rows: [
        ['Task type', 'sum'], ['Group', 'sum-1'], ['Compute', 'In [5]'], ['Thread', 'thread 1'], ['Status', 'finished'],
        ['Start', '2 s'], ['Duration', '2 s'],
        ['CPU time', '500 ms (25% of the duration)'], ['Result size', '8 MB']
      ],
      note: null
    });
  });

  it('says what is unknown, failed, seen from afar or hidden', () => {
    const { rows, note } = tip({ cpuS: null, sizeBytes: null, status: 'erred', observedBy: 'scheduler', error: 'ValueError: no' }, 4);
    expect([rows[4], rows.slice(7), note]).toEqual([
      ['Status', 'failed'],
      [['CPU time', 'unknown'], ['Result size', 'unknown'], ['Error', 'ValueError: no']],
      'Times as the scheduler saw them: they include waiting. 3 more tasks at this pixel: zoom in to see them.'
    ]);
  });

  it('of a task in flight says how long it has run', () => {
    const bar = { startS: 15, prefix: 0, task: { run: 0, lane: 0, group: 0, keyText: 'k', startS: 15 } };
    expect(tipOf({ kind: 'open', bar, lane: 0, label: 'thread 1' }, TIMES, NAMES)).toEqual({
      key: 'k',
      rows: [
        ['Task type', 'sum'], ['Group', 'sum-1'], ['Compute', 'In [5]'], ['Thread', 'thread 1'], ['Status', 'running'],
        ['Start', '5 s'], ['So far', '5 s']
      ],
      note: null
    });
  });

  it('of a collapsed worker says how many of its lanes were busy', () => {
    const row = { kind: 'worker', worker: '12', label: 'process 12', lanes: [0, 1, 2, 3], collapsed: true } as const;
    expect(tipOf({ kind: 'worker', row, timeS: 11, busyLanes: 2.52, nTasks: 1234 }, TIMES, NAMES)).toEqual({
      key: 'process 12',
      rows: [['Time', '1 s'], ['Busy', '2.5 of 4 threads (63%)'], ['Tasks', '1,234']],
      note: 'The mean of its threads: open it to see tasks.'
    });
  });

  it('hostile keys are cut and made visible', () => {
    const { key } = tip({ key: `\u202e</script>${'x'.repeat(1_000_000)}` });
    expect([key.length, key.slice(0, 16)]).toEqual([405, '\\u202e</script>x']);
  });
});

function legendOf(prefixes: PrefixSummary[], nLost = 0): {
  el: HTMLElement; refresh: (prefixes: PrefixSummary[]) => void; emphasis: Emphasis; entries: () => [string, string | null][]; shown: () => string[];
} {
  const el = document.createElement('div');
  const emphasis: Emphasis = new Emphasis(() => { refresh(prefixes); });
  const refresh = (shown: PrefixSummary[]): void => { render(h(Legend, { prefixes: shown, nLost, emphasis, colourOf: () => '#b11f4b' }), el); };
  refresh(prefixes);
  return {
    el, refresh, emphasis,
    entries: () => [...el.querySelectorAll('[aria-pressed]')].map(button => [button.textContent, button.getAttribute('aria-pressed')]),
    shown: () => [...el.querySelectorAll<HTMLElement>('li:not([hidden]) > button:not([aria-pressed])')].map(button => button.textContent)
  };
}

describe('summary', () => {
  it('adds computes up and leaves unknown durations unknown', () => {
    expect(summarise([
      smallProgress({ prefix: 'a', finished: 3, erred: 1, durationS: 2 }), smallProgress({ run: 2, prefix: 'b', finished: 1, durationS: null }),
      smallProgress({ run: 1, prefix: 'a', finished: 4, interrupted: 2, released: 1, running: 1, durationS: 3 })
    ])).toEqual([
      { prefix: 'a', total: 20, finished: 7, erred: 1, interrupted: 2, released: 1, running: 1, meanS: 0.5 },
      { prefix: 'b', total: 10, finished: 1, erred: 0, interrupted: 0, released: 0, running: 0, meanS: null }
    ]);
  });

  it('means are of all ends, and a prefix of which no task has to run is left out', () => {
    expect(summarise([
      smallProgress({ prefix: 'a', total: 0, skipped: 10 }), smallProgress({ prefix: 'b', finished: 3, again: 2, skipped: 1, durationS: 10 })
    ])).toEqual([{ prefix: 'b', total: 10, finished: 3, erred: 0, interrupted: 0, released: 0, running: 0, meanS: 2 }]);
  });

  it('legend and table show text as text', () => {
    const evil = '<img src=x onerror=alert(1)>';
    const prefixes = summarise([smallProgress({ prefix: evil, finished: 2, erred: 1, durationS: 3 })]);
    const { el, entries } = legendOf(prefixes);
    const table = document.createElement('div');
    render(h(Table, prefixTable(prefixes)), table);
    expect([entries(), el.querySelector('.tsk-legend-note')?.textContent]).toEqual([[[`${evil}10`, 'true']], 'failed 1']);
    expect([...table.querySelectorAll('td')].map(cell => cell.textContent)).toEqual([evil, '10', '2', '1', '0', '0', '1 s']);
    expect([...el.querySelectorAll('img'), ...table.querySelectorAll('img')]).toEqual([]);
  });
});

describe('legend', () => {
  const three = summarise(['a', 'b', 'c'].map(prefix => smallProgress({ prefix })));

  it('hides and shows a prefix by its button, and all at once again', () => {
    const { el, emphasis, entries, shown } = legendOf(three);
    const names = { prefixes: ['a', 'b', 'c'], prefixId: (name: string) => 'abc'.indexOf(name) };
    el.querySelectorAll<HTMLButtonElement>('[aria-pressed]')[1]?.click();
    expect([entries().map(([, pressed]) => pressed), [...(emphasis.filter(names).hidden ?? [])], shown()]).toEqual([
      ['true', 'false', 'true'], [0, 1, 0], ['Show all']
    ]);
    [...el.querySelectorAll('button')].find(button => button.textContent === 'Show all')?.click();
    expect([entries().map(([, pressed]) => pressed), emphasis.filter(names), shown()]).toEqual([['true', 'true', 'true'], { hidden: null, focus: -1 }, []]);
  });

  it.each([['pointerenter', 'pointerleave'], ['focus', 'blur']])('a prefix stands out from %s to %s', (enter, leave) => {
    const { el, emphasis } = legendOf(three);
    const names = { prefixes: ['a', 'b', 'c'], prefixId: (name: string) => 'abc'.indexOf(name) };
    const button = el.querySelectorAll('[aria-pressed]')[2];
    const focus = [enter, leave].map(name => {
      button?.dispatchEvent(new Event(name));
      return emphasis.filter(names).focus;
    });
    expect(focus).toEqual([2, -1]);
  });

  it('keeps its buttons when counts change, so that none loses the focus', () => {
    const { el, refresh, entries } = legendOf(three);
    const before = [...el.querySelectorAll('[aria-pressed]')];
    refresh(summarise(['a', 'b', 'c', 'd'].map(prefix => smallProgress({ prefix, total: 11 }))));
    expect([entries().map(([text]) => text), [...el.querySelectorAll('[aria-pressed]')].slice(0, 3)]).toEqual([['a11', 'b11', 'c11', 'd11'], before]);
  });

  it('tells tasks that were lost or released from those that were interrupted', () => {
    const said = [[5, 0], [2, 0], [0, 0], [1, 4]].map(([nLost, released]) => {
      const rows = summarise([smallProgress({ total: 9, erred: 1, interrupted: 5, released })]);
      return legendOf(rows, nLost as number).el.querySelector('.tsk-legend-note')?.textContent;
    });
    expect(said).toEqual(['failed 1lost 5', 'failed 1interrupted 3lost 2', 'failed 1interrupted 5', 'failed 1released 4lost 1']);
  });

  it('of 2,000 prefixes says how many are left out, and shows more when asked', () => {
    const { el, entries, shown } = legendOf(summarise(Array.from({ length: 2000 }, (_, i) => smallProgress({ prefix: `p${i}` }))));
    const counts = [entries().length];
    const said = [shown()];
    const more = [...el.querySelectorAll('button')].find(button => button.textContent.includes('more'));
    for (let i = 0; i < 2; i += 1) {
      more?.click();
      counts.push(entries().length);
      said.push(shown());
    }
    expect([counts, said]).toEqual([
      [MAX_LEGEND, 500, MAX_LEGEND], [['1,976 more task types'], ['Fewer; 1,500 more are not listed'], ['1,976 more task types']]
    ]);
  });
});

describe('state line', () => {
  it('counts tasks, lanes, what runs, what failed and what was dropped', () => {
    const store = new TaskStore({ clockMs: () => 0 });
    const progress = [smallProgress({ total: 2000, finished: 1199, erred: 1, running: 2 })];
    store.append(batchOf([{ start: 0, stop: 1 }, { start: 0, stop: 1, lane: 1 }], { first: 1198, dropped: 1198, progress, nowS: 1 }));
    const scene = fitted(store)!;
    expect(stateText(store, scene, { runs: [], rows: progress }, 0)).toBe(
      '1,200 tasks · 2 threads · 2 running · 1 failed · showing 2 of 1,200: older tasks were dropped'
    );
    expect(labelText(scene, summarise(progress))).toContain('2 threads over 1.02 s, mostly add (2,000)');
  });

  it('says how the latest compute ended if not well, what is hidden, and that it is held', () => {
    const store = storeWith(batchOf([{ start: 0, stop: 1 }], { active: false }));
    const scene = fitted(store)!;
    const said = (run: Parameters<typeof smallRun>[0], paused = false, nHidden = 0): string =>
      stateText(store, { ...scene, paused, nowS: 12 }, { runs: [smallRun(run)], rows: [smallProgress({ finished: 1 })] }, nHidden);
    expect([
      said({ status: 'finished' }), said({ status: 'erred', error: 'ValueError: no' }), said({ status: 'erred' }), said({ status: 'interrupted' }),
      said({ status: 'running' }), said({ status: 'running' }, true), said({ status: 'finished' }, false, 2)
    ]).toEqual([
      '1 task · 1 thread', 'failed: ValueError: no · 1 task · 1 thread', 'failed · 1 task · 1 thread', 'interrupted · 1 task · 1 thread',
      'disconnected: last known state · 1 task · 1 thread', 'paused at 12 s · 1 task · 1 thread', '1 task · 1 thread · 2 task types hidden'
    ]);
  });

  it('leaves what was raised to the progress above it', () => {
    const store = storeWith(batchOf([{ start: 0, stop: 1 }], { active: false }));
    const runs = [smallRun({ status: 'erred', error: 'ValueError: no' })];
    expect(stateText(store, fitted(store)!, { runs, rows: [smallProgress({ finished: 1 })] }, 0, false)).toBe('failed · 1 task · 1 thread');
  });

  it('says why there is nothing', () => {
    const store = new TaskStore({ clockMs: () => 0 });
    const say = (waits: string | null = null): string => emptyText(store, fitted(store), false, { waitsFor: () => waits });
    const said = [say()];
    store.append(batchOf([], { active: true }));
    said.push(say(), say('the scheduler builds the graph'));
    const ended = { active: false, runs: [smallRun({ stopS: 1, status: 'finished' })] };
    store.append(batchOf([], { seq: 1, ...ended }));
    said.push(say());
    store.append(batchOf([], { seq: 0, first: 5, dropped: 5, ...ended }));
    said.push(say());
    expect(said).toEqual([
      'no tasks yet', 'waiting for the first task', 'the scheduler builds the graph', 'no tasks',
      'all tasks of this compute were dropped'
    ]);
  });
});

const ON_CLUSTER = { scheduler: 'distributed', startS: 10, sendS: 1 };
const BUILT = { ...ON_CLUSTER, receivedS: 10.5, materializeS: 4, orderS: 0.5, initializeS: 0.25 };

describe('before the first task', () => {
  it('is what the client does, then what the scheduler does, and what is not known is left out', () => {
    expect([BUILT, { orderS: 0.5 }, {}].map(known => stepsOf(smallRun(known)))).toEqual([
      [['sending the graph', 1], ['making its tasks', 4], ['ordering them', 0.5], ['taking them in', 0.25]], [['ordering them', 0.5]], []
    ]);
  });

  it('is a table, and none where nothing is known', () => {
    const store = storeWith(batchOf([], { runs: [smallRun()] }), { clockMs: () => 0 });
    const none = beforeTables(store, ALL_RUNS);
    store.append(batchOf([], { seq: 1, runs: [smallRun({ ...ON_CLUSTER, run: 1, executionCount: 4 })] }));
    expect([none, ...beforeTables(store, ALL_RUNS).map(({ rows }) => rows)]).toEqual([[], [['In [4]', 'sending the graph', '1 s']]]);
  });
});
