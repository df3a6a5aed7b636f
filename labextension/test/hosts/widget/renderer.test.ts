import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { beforeEach, expect, it } from 'vitest';

import { LiveModels } from '../../../src/hosts/widget/live-models';
import { OUTPUT, OutputRenderer, addOutputRenderer } from '../../../src/hosts/widget/renderer';

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
