/** What charts keep in memory after they left the page, although their axis and their store stay in use. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, it } from 'vitest';

import { mount } from '../../../src/charts/dashboard';
import { mountFlame } from '../../../src/charts/flame/track';
import { TimeAxis } from '../../../src/charts/timeline/time';
import { TaskStore } from '../../../src/store';
import { batchOf } from '../../store/rows';
import { decodeFlame } from '../../../src/charts/flame/data';
import { wireOf } from '../flame/flame-data';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const macrotask = (): Promise<void> => new Promise(resolve => { setTimeout(resolve); });

/** Mount all charts and unmount them after a frame. */
async function show(store: TaskStore, axis: TimeAxis): Promise<WeakRef<object>[]> {
  const [controller, el] = [new AbortController(), document.createElement('div')];
  const options = { signal: controller.signal, axis };
  document.body.append(el);
  const { timeline, progress } = mount(el, store, options);
  const flame = mountFlame(el, store, options);
  flame.show(decodeFlame(wireOf([{ stack: ['f'], seconds: 1 }])), null);
  const made = [timeline, progress, flame, ...el.querySelectorAll('canvas')].map(chart => new WeakRef(chart));
  await macrotask();
  controller.abort();
  el.remove();
  return made;
}

it('a chart that left the page is freed, although its axis and its store stay in use', async () => {
  const [store, axis] = [new TaskStore(), new TimeAxis(true)];
  store.append(batchOf([{ start: 0, stop: 1 }]));
  const shown: WeakRef<object>[][] = [];
  for (let i = 0; i < 5; i += 1) {
    shown.push(await show(store, axis));
  }
  await macrotask();
  collectGarbage();
  const kept = shown.map(charts => charts.filter(chart => chart.deref() !== undefined).length);
  // jsdom keeps the elements that a selector was last applied to.
  expect([kept.slice(0, -1), shown[0]?.length]).toEqual([[0, 0, 0, 0], 8]);
});
