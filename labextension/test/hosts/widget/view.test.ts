import { Signal } from '@lumino/signaling';
import { beforeEach, expect, it, vi } from 'vitest';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import { liveModels, LiveModels } from '../../../src/hosts/widget/live-models';
import { chartModel } from '../../../src/hosts/widget/models';
import { type MountChart, type Surroundings, chartView } from '../../../src/hosts/widget/view';
import { TaskStore } from '../../../src/store';
import { OUTPUT, OutputRenderer, addOutputRenderer } from '../../../src/hosts/widget/renderer';

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

const VIEW = 'application/vnd.jupyter.widget-view+json';

let models: LiveModels;
let rendered: string[];
let factories: [IRenderMime.IRendererFactory, number][];

/** Says what it was given, as a notebook's renderers would show it. */
class Plain extends Widget implements IRenderMime.IRenderer {
  constructor(private readonly _mimeType: string) {
    super();
  }

  async renderModel({ data }: IRenderMime.IMimeModel): Promise<void> {
    const shown = data[this._mimeType];
    this.node.textContent = typeof shown === 'string' ? shown : JSON.stringify(shown);
    rendered.push(this.node.textContent);
    return Promise.resolve();
  }
}

const renderers = {
  createRenderer: (mimeType: string) => new Plain(mimeType),
  addFactory: (factory: IRenderMime.IRendererFactory, rank: number) => { factories.push([factory, rank]); }
};

const output = (html: string, view: unknown = { model_id: 'w' }): IRenderMime.IMimeModel =>
  ({ data: { [OUTPUT]: {}, [VIEW]: view, 'text/html': html }, metadata: {}, trusted: true }) as unknown as IRenderMime.IMimeModel;

beforeEach(() => {
  models = new LiveModels();
  rendered = [];
  factories = [];
});

it('shows the picture until the widget is there, then its view, and keeps that when text and picture change', async () => {
  const renderer = new OutputRenderer(renderers, models);
  await renderer.renderModel(output('waiting'));
  expect(renderer.node.textContent).toBe('waiting');
  await renderer.renderModel(output('still waiting'));
  expect(renderer.node.textContent).toBe('still waiting');
  models.add({ model_id: 'another', comm_live: true });
  models.add({ model_id: 'w', comm_live: true });
  const [view] = renderer.widgets;
  expect(renderer.node.textContent).toBe('{"model_id":"w"}');
  await renderer.renderModel(output('finished'));
  expect(renderer.widgets).toEqual([view]);
  expect(rendered).toEqual(['waiting', 'still waiting', '{"model_id":"w"}']);
});

it('shows the view at once of a widget that lives, and another one where the output becomes that of another', async () => {
  models.add({ model_id: 'w', comm_live: true });
  models.add({ model_id: 'v', comm_live: true });
  const renderer = new OutputRenderer(renderers, models);
  await renderer.renderModel(output('waiting'));
  await renderer.renderModel(output('waiting', { model_id: 'v' }));
  expect(rendered).toEqual(['{"model_id":"w"}', '{"model_id":"v"}']);
  expect(renderer.widgets.length).toBe(1);
});

it('shows the picture of a widget whose kernel is gone, that a notebook saved, or that is none', async () => {
  const gone = { model_id: 'w', comm_live: true };
  models.add(gone);
  gone.comm_live = false;
  models.add({ model_id: 'saved', comm_live: false });
  for (const view of [{ model_id: 'w' }, { model_id: 'saved' }, { model_id: 7 }, null, undefined, 'x']) {
    await new OutputRenderer(renderers, models).renderModel(output('kept', view));
  }
  expect(rendered).toEqual(Array(6).fill('kept'));
});

it('shows the text where nobody kept a picture', async () => {
  await new OutputRenderer(renderers, models).renderModel({ data: { [OUTPUT]: {}, 'text/plain': 'words' } } as unknown as IRenderMime.IMimeModel);
  expect(rendered).toEqual(['words']);
});

it('hears of no model any more once it is gone', async () => {
  const renderer = new OutputRenderer(renderers, models);
  await renderer.renderModel(output('waiting'));
  renderer.dispose();
  models.add({ model_id: 'w', comm_live: true });
  expect(rendered).toEqual(['waiting']);
});

it('is asked for trusted outputs only, before the view of ipywidgets', () => {
  addOutputRenderer(renderers, models);
  expect(factories.map(([{ safe, mimeTypes }, rank]) => [safe, mimeTypes, rank])).toEqual([[false, [OUTPUT], -20]]);
});
