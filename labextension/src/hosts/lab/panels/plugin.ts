/** The panels' plugin: puts together what its neighbours make. */
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { setTranslator } from '../../../lib/translate';
import { ICells } from '../cells/cells';
import { IFeeds } from '../feed/feeds';
import { lateService } from '../late-service';
import { LOAD_WITH_DASK, RESTORE, addCommands } from './commands';
import { Memory } from './memory';
import { type OwnerTracker, Owners } from './owners';
import { IPanels, Panels, SIDE_PANEL } from './panels';
import { SelfLoading } from './self-loading';
import { SETTINGS_ID, followSettings } from './settings';
import { StatusItem } from './status-bar/status-item';
import { PanelTarget } from './target';

export const plugin: JupyterFrontEndPlugin<IPanels> = {
  id: 'taskscope:panels',
  description: 'Panels with live Dask diagnostics, which follow the notebook in use.',
  autoStart: true,
  requires: [IFeeds],
  optional: [
    ILabShell,
    ILayoutRestorer,
    INotebookTracker,
    IConsoleTracker,
    ICommandPalette,
    IStateDB,
    ISettingRegistry,
    ITranslator,
    ICells
  ],
  provides: IPanels,
  activate: (
    app: JupyterFrontEnd,
    feeds: IFeeds,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    palette: ICommandPalette | null,
    stateDB: IStateDB | null,
    settings: ISettingRegistry | null,
    translator: ITranslator | null,
    cells: ICells | null
  ): IPanels => {
    setTranslator((translator ?? nullTranslator).load('taskscope'));
    const trackers = [notebooks, consoles].filter(tracker => tracker !== null) as OwnerTracker[];
    const { kernels, sessions } = app.serviceManager;
    const memory = new Memory(stateDB);
    const owners = new Owners(trackers, labShell);
    const setLoadWithDask =
      settings === null ? null : (isOn: boolean): Promise<void> => settings.set(SETTINGS_ID, 'loadWithDask', isOn);
    const loadWithDask =
      setLoadWithDask &&
      ((): void => {
        void setLoadWithDask(true);
      });
    const panels = new Panels(app.shell, labShell, { owners, sessions, kernels, feeds, memory, cells, loadWithDask });
    const offer = addCommands(app, panels, palette, setLoadWithDask);
    void lateService(app, async () => (await import('@jupyterlab/launcher')).ILauncher).then(launcher => {
      if (launcher !== null) {
        offer(launcher);
      }
    });
    void lateService(app, async () => (await import('@jupyterlab/statusbar')).IStatusBar).then(statusBar => {
      if (statusBar !== null) {
        const open = (): void => { panels.openSidePanel(); };
        const item = new StatusItem(new PanelTarget(owners, sessions, kernels), feeds, open);
        const isActive = (): boolean => item.isActive;
        statusBar.registerStatusItem('taskscope:status', { item, align: 'middle', isActive, activeStateChanged: item.activeChanged });
      }
    });
    const side = panels.addSidePanel();
    // Notebook 7 restores no layout.
    restorer?.add(side, SIDE_PANEL);
    void restorer?.restore(panels.tracker, {
      command: RESTORE,
      args: ({ id }) => ({ id }),
      name: ({ id }) => id
    });
    if (settings !== null) {
      const selfLoading = new SelfLoading(trackers);
      void followSettings(settings, read => {
        panels.settings = read;
        feeds.configure(read);
        selfLoading.isOn = read.loadWithDask;
        app.commands.notifyCommandChanged(LOAD_WITH_DASK);
      });
    }
    feeds.panelAsked.connect((_, { model, ask }) => {
      if (ask === 'dock' || panels.settings.autoOpen === 'side-panel') {
        void panels.show(model.id);
      }
    });
    return panels;
  }
};
