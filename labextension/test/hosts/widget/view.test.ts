import { Signal } from '@lumino/signaling';
import { beforeEach, expect, it, vi } from 'vitest';

import { liveModels } from '../../../src/hosts/widget/live-models';
import { chartModel } from '../../../src/hosts/widget/models';
import { type MountChart, type Surroundings, chartView } from '../../../src/hosts/widget/view';
import { TaskStore } from '../../../src/store';

let mounted: string[];
let holds: number;

beforeEach(() => {
  mounted = [];
  holds = 0;
});

function held<T extends object>(more: T): T & { release: () => void } {
  holds += 1;
  return { ...more, release: () => (holds -= 1) };
}

function surroundings(): Surroundings {
  const feed = {
    kernelId: 'k',
    recorder: 'r',
    state: { kind: 'live', subshell: true },
    active: false,
    stateChanged: new Signal({}),
    keeper: {},
    use: () => held({ value: new TaskStore() })
  };
  return { feedOf: () => held({ value: feed }), buttons: () => [], cells: null } as unknown as Surroundings;
}

const mount: MountChart = ({ model, options: { firstRun, lastRun, signal } }) => {
  mounted.push(`${String(model.get('recorder_id'))} ${String(firstRun)} ${String(lastRun)}`);
  signal.addEventListener('abort', () => mounted.push('gone'));
};

async function shown(): Promise<{ model: InstanceType<ReturnType<typeof chartModel>>; view: { remove: () => unknown } }> {
  const comm = { comm_id: 'w', target_name: 'jupyter.widget', on_close: vi.fn(), on_msg: vi.fn(), send: vi.fn(() => ''), close: vi.fn() };
  const options = { model_id: 'w', comm, widget_manager: { kernel: { model: { id: 'k' } }, display_view: vi.fn() } };
  const model = new (chartModel('Progress'))({ recorder_id: 'r' }, options);
  const View = chartView(surroundings(), 'progress', mount);
  const view = new View({ model, options: {} });
  view.render();
  await Promise.resolve();
  return { model, view };
}

it.each<[string, (model: Awaited<ReturnType<typeof shown>>['model']) => void]>([
  ['was closed', model => { model.trigger('destroy'); }], ['has lost its kernel', model => { model.comm_live = false; model.comm_live = true; }]
])('a model that %s is forgotten', async (_, end) => {
  const { model, view } = await shown();
  const had = liveModels.has('w');
  end(model);
  expect([had, liveModels.has('w')]).toEqual([true, false]);
  view.remove();
});

it('is mounted once, however many traits of what it shows one message changes, and not at all by others', async () => {
  const { model, view } = await shown();
  expect([mounted, holds]).toEqual([['r 0 null'], 2]);
  model.set({ finished: 3, total: 4, state: 'running' });
  expect(mounted).toEqual(['r 0 null']);
  model.set({ recorder_id: 's', first_run: 2, last_run: 5, epoch: 'e' });
  expect([mounted, holds]).toEqual([['r 0 null', 'gone', 's 2 5'], 2]);
  view.remove();
  expect([mounted, holds]).toEqual([['r 0 null', 'gone', 's 2 5', 'gone'], 0]);
});
