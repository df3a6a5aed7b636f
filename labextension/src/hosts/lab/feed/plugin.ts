/** The JupyterLab plugin: knows which kernels have taskscope and keeps a feed of each. */
import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';

import { withEach } from '../application';
import { watchSession } from '../kernel/messages';
import { Feeds, IFeeds } from './feeds';

export const plugin: JupyterFrontEndPlugin<IFeeds> = {
  id: 'taskscope:plugin',
  description: 'Live Dask diagnostics: one feed per kernel that has loaded taskscope.',
  autoStart: true,
  optional: [INotebookTracker, IConsoleTracker, ILabShell],
  provides: IFeeds,
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    labShell: ILabShell | null
  ): IFeeds => {
    const openPage = (html: string): void => {
      void import('./comparison').then(({ comparisonTab }) => {
        const tab = comparisonTab(html);
        // Elsewhere the main area shows one document, and nothing that is added to it.
        app.shell.add(tab, labShell === null ? 'right' : 'main');
        app.shell.activateById(tab.id);
      });
    };
    const feeds = new Feeds(app.serviceManager.kernels, openPage);
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
