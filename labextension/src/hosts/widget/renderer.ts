/**
 * Shows the output of a widget of ours: the view while its kernel is there, else the picture that was kept of it.
 *
 * The kernel brings text and picture up to date when computes end (`jupyter/widgets/output.py`), so that a saved notebook
 * tells the end. ipywidgets' own renderer would draw the view anew at each update, and leave the former one behind.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel } from '@lumino/widgets';

import type { LiveModel, LiveModels } from './live-models';

/** Says of an output that it is a widget of ours. */
export const OUTPUT = 'application/vnd.taskscope.view+json';
const VIEW = 'application/vnd.jupyter.widget-view+json';
const PICTURE = 'text/html';
const TEXT = 'text/plain';

/** Where renderers of other kinds come from. */
export interface Renderers {
  createRenderer(mimeType: string): IRenderMime.IRenderer;
  addFactory(factory: IRenderMime.IRendererFactory, rank: number): void;
}

/** Have a notebook or a console show our outputs so. */
export function addOutputRenderer(renderers: Renderers, models: LiveModels): void {
  // Before the widget's view (-10), which is in the output for whoever has not this renderer.
  const rank = -20;
  renderers.addFactory({ safe: false, mimeTypes: [OUTPUT], createRenderer: () => new OutputRenderer(renderers, models) }, rank);
}

export class OutputRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly _renderers: Renderers,
    private readonly _models: LiveModels
  ) {
    super();
    _models.added.connect(this._onAdded);
  }

  async renderModel(output: IRenderMime.IMimeModel): Promise<void> {
    this._output = output;
    const id = modelIdOf(output);
    if (id !== null && id === this._shownId) {
      return;
    }
    const isLive = id !== null && this._models.has(id);
    this._shownId = isLive ? id : null;
    const kept = PICTURE in output.data ? PICTURE : TEXT;
    const shown = this._renderers.createRenderer(isLive ? VIEW : kept);
    for (const former of [...this.widgets]) {
      former.dispose();
    }
    this.addWidget(shown);
    await shown.renderModel(output);
  }

  override dispose(): void {
    this._models.added.disconnect(this._onAdded);
    super.dispose();
  }

  private readonly _onAdded = (_: LiveModels, { model_id: id }: LiveModel): void => {
    if (this._output !== null && modelIdOf(this._output) === id) {
      void this.renderModel(this._output);
    }
  };

  private _output: IRenderMime.IMimeModel | null = null;
  /** Of the widget whose view is shown; null while it is the picture. */
  private _shownId: string | null = null;
}

function modelIdOf({ data }: IRenderMime.IMimeModel): string | null {
  const view = data[VIEW] as { model_id?: unknown } | undefined;
  return typeof view?.model_id === 'string' ? view.model_id : null;
}
