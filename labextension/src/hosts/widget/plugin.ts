/** Registers our widgets, which are loaded when a notebook first shows one. */
import { IJupyterWidgetRegistry } from '@jupyter-widgets/base';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { setTranslator, trans } from '../../lib/translate';
import { withEach } from '../lab/application';
import { ICells } from '../lab/cells/cells';
import { IFeeds } from '../lab/feed/feeds';
import { popOutIcon } from '../lab/panels/charts';
import { IPanels } from '../lab/panels/panels';
import { kernelOf } from '../private-names';
import { MODULE_NAME, MODULE_VERSION, liveModels } from './live-models';
import { type Renderers, addOutputRenderer } from './renderer';

export const plugin: JupyterFrontEndPlugin<void> = {
  id: 'taskscope:widgets',
  description: 'The taskscope widgets: ProgressWidget, GanttWidget, ResourceWidget, CacheWidget, FlameWidget, Dashboard.',
  autoStart: true,
  requires: [IJupyterWidgetRegistry, IFeeds],
  optional: [IPanels, ITranslator, ICells, INotebookTracker, IConsoleTracker],
  activate: (
    _app: JupyterFrontEnd,
    registry: IJupyterWidgetRegistry,
    feeds: IFeeds,
    panels: IPanels | null,
    translator: ITranslator | null,
    cells: ICells | null,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null
  ): void => {
    setTranslator((translator ?? nullTranslator).load('taskscope'));
    const render = ({ rendermime }: { readonly rendermime: Renderers }): void => { addOutputRenderer(rendermime, liveModels); };
    withEach(notebooks, ({ content }) => { render(content); });
    withEach(consoles, ({ console }) => { render(console); });
    registry.registerWidget({
      name: MODULE_NAME,
      version: MODULE_VERSION,
      exports: async () => {
        const [{ widgetModule }] = await Promise.all([import('./charts'), feeds.ready()]);
        return widgetModule({
          feedOf: ({ widget_manager: manager }) => {
            const kernel = kernelOf(manager);
            return kernel === null ? null : feeds.use(kernel);
          },
          buttons: (chart, kernelId) =>
            panels === null ? [] : [{ icon: popOutIcon, label: trans.__('Open as a tab of its own'), act: () => void panels.openFor(chart, kernelId) }],
          cells
        });
      }
    });
  }
};
