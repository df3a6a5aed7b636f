/** The JupyterLab plugin: knows which kernels have taskscope and keeps a feed of each. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';

import { withEach } from '../application';
import { watchSession } from '../kernel/messages';
import { Feeds, IFeeds } from './feeds';

export const plugin: JupyterFrontEndPlugin<IFeeds> = {
  id: 'taskscope:plugin',
  description: 'Live Dask diagnostics: one feed per kernel that has loaded taskscope.',
  autoStart: true,
  optional: [INotebookTracker, IConsoleTracker],
  provides: IFeeds,
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null
  ): IFeeds => {
    const feeds = new Feeds(app.serviceManager.kernels);
    withEach(notebooks, ({ sessionContext }) => { watchSession(sessionContext, feeds); });
    withEach(consoles, ({ sessionContext }) => { watchSession(sessionContext, feeds); });
    // Each reload would leave a subshell behind in the kernel.
    window.addEventListener('pagehide', ({ persisted }) => {
      if (persisted) {
        feeds.suspend();
      } else {
        feeds.dispose();
      }
    });
    window.addEventListener('pageshow', ({ persisted }) => {
      if (persisted) {
        feeds.resume();
      }
    });
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') {
        feeds.shown();
      }
    });
    return feeds;
  }
};
