import { describe, expect, it } from 'vitest';

import { MAX_LEGEND, fillLegend, fillTable, summarise } from '../../../src/charts/gantt/legend';
import { sceneOf } from '../../../src/charts/gantt/model';
import { tipOf } from '../../../src/charts/gantt/tooltip';
import { emptyText, labelText, stateText } from '../../../src/charts/gantt/words';
import { english } from '../../../src/lib/translate';
import type { TaskDetail } from '../../../src/store';
import { ALL_RUNS, TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { smallProgress, smallRun } from '../small-batch';

const TASK: TaskDetail = {
  key: "('sum-1', 7)", group: 'sum-1', prefix: 'sum', run: 0, startS: 12, stopS: 14,
  cpuShare: 0.25, sizeBytes: 8_000_000, status: 'finished', observedBy: 'worker'
};

describe('tooltip', () => {
  it('says all that is known, with units', () => {
    expect(tipOf(TASK, 'thread 1', 10, 1, english)).toEqual({
      key: "('sum-1', 7)",
      rows: [
        ['Prefix', 'sum'], ['Group', 'sum-1'], ['Lane', 'thread 1'], ['Start', '2 s'], ['Duration', '2 s'],
        ['CPU time', '500 ms (25% of the duration)'], ['Result size', '8 MB']
      ],
      note: null
    });
  });

  it('says what is unknown, failed, seen from afar or hidden', () => {
    const task: TaskDetail = { ...TASK, cpuShare: null, sizeBytes: null, status: 'erred', observedBy: 'scheduler' };
    const tip = tipOf(task, 'thread 1', 10, 4, english);
    expect([tip.rows.slice(5), tip.note]).toEqual([
      [['CPU time', 'unknown'], ['Result size', 'unknown'], ['Status', 'erred']],
      'Times as the scheduler saw them: they include waiting. 3 more tasks at this pixel: zoom in to see them.'
    ]);
  });

  it('hostile keys are cut and made visible', () => {
    const tip = tipOf({ ...TASK, key: `\u202e</script>${'x'.repeat(1_000_000)}` }, 'l', 0, 1, english);
    expect([tip.key.length, tip.key.slice(0, 16)]).toEqual([405, '\\u202e</script>x']);
  });
});

describe('summary', () => {
  it('adds computes up and leaves unknown durations unknown', () => {
    expect(summarise([
      smallProgress({ prefix: 'a', finished: 3, erred: 1, durationS: 2 }), smallProgress({ prefix: 'b', finished: 1, durationS: null }),
      smallProgress({ run: 1, prefix: 'a', finished: 4, interrupted: 2, running: 1, durationS: 3 })
    ])).toEqual([
      { prefix: 'a', total: 20, finished: 7, erred: 1, interrupted: 2, running: 1, meanS: 0.5 },
      { prefix: 'b', total: 10, finished: 1, erred: 0, interrupted: 0, running: 0, meanS: null }
    ]);
  });

  it('legend and table show text as text', () => {
    const evil = '<img src=x onerror=alert(1)>';
    const prefixes = summarise([smallProgress({ prefix: evil, finished: 2, erred: 1, durationS: 3 })]);
    const list = document.createElement('ul');
    const table = document.createElement('table');
    fillLegend(list, prefixes, () => '#b11f4b', english);
    fillTable(table, prefixes, english);
    expect([...list.children].map(item => item.textContent)).toEqual([`${evil}10`, 'erred1']);
    expect([...table.querySelectorAll('td')].map(cell => cell.textContent)).toEqual([evil, '10', '2', '1', '0', '0', '1 s']);
    expect([...list.querySelectorAll('img'), ...table.querySelectorAll('img')]).toEqual([]);
  });

  it('a legend of 2,000 prefixes says how many are left out', () => {
    const list = document.createElement('ul');
    fillLegend(list, summarise(Array.from({ length: 2000 }, (_, i) => smallProgress({ prefix: `p${i}` }))), () => '#fff', english);
    expect([list.children.length, list.lastElementChild?.textContent]).toEqual([MAX_LEGEND + 1, '1,976 more prefixes']);
  });
});

describe('state line', () => {
  it('counts tasks, lanes, what runs, what failed and what was dropped', () => {
    const store = new TaskStore();
    const progress = [smallProgress({ total: 2000, finished: 1199, erred: 1, running: 2 })];
    store.append(batchOf([{ start: 0, stop: 1 }, { start: 0, stop: 1, lane: 1 }], { first: 1198, dropped: 1198, progress, nowS: 1 }));
    const scene = sceneOf(store, ALL_RUNS, { kind: 'fit' })!;
    expect(stateText(store, scene, summarise(progress), english)).toBe(
      '1,200 tasks · 2 lanes · 2 running · 1 erred · showing 2 of 1,200: older tasks were dropped'
    );
    expect(labelText(scene, summarise(progress), english)).toContain('2 lanes over 1.02 s, mostly add (2,000)');
  });

  it('says why there is nothing', () => {
    const store = new TaskStore({ clockMs: () => 0 });
    const say = (): string => emptyText(store, sceneOf(store, ALL_RUNS, { kind: 'fit' }), english);
    const said = [say()];
    store.append(batchOf([], { active: true }));
    said.push(say());
    const ended = { active: false, runs: [smallRun({ stopS: 1, status: 'finished' })] };
    store.append(batchOf([], { seq: 1, ...ended }));
    said.push(say());
    store.append(batchOf([], { seq: 0, first: 5, dropped: 5, ...ended }));
    said.push(say());
    expect(said).toEqual([
      'waiting for the first task', 'waiting for the first task', 'no tasks', 'all tasks of this compute were dropped'
    ]);
  });
});
