/** Binds computes and cells: badges at cells, and ways from charts to cells. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { setTranslator } from '../../../lib/translate';
import { withEach } from '../application';
import { IFeeds } from '../feed/feeds';
import { Cells, ICells } from './cells';
import { NotebookBadges } from './notebook-badges';

export const plugin: JupyterFrontEndPlugin<ICells> = {
  id: 'taskscope:cells',
  description: 'Badges at cells that compute with Dask, and ways from computes to their cells.',
  autoStart: true,
  requires: [IFeeds],
  optional: [INotebookTracker, IConsoleTracker, ITranslator],
  provides: ICells,
  activate: (
    app: JupyterFrontEnd,
    feeds: IFeeds,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    translator: ITranslator | null
  ): ICells => {
    setTranslator((translator ?? nullTranslator).load('taskscope'));
    withEach(notebooks, panel => { new NotebookBadges(panel, feeds); });
    return new Cells(app.shell, notebooks, consoles);
  }
};
