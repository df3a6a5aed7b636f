/** The plugin of the panels and its commands. */
import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ILauncher } from '@jupyterlab/launcher';

import { setTranslator, trans } from '../../../lib/translate';
import { ICells } from '../cells/cells';
import { IFeeds } from '../feed/feeds';
import { lateService } from '../application';
import { CHARTS, chartOf, loadIcon, sidePanelIcon } from './charts';
import { Memory } from './memory';
import { type OwnerTracker, Owners } from './owners';
import { IPanels, Panels, SIDE_PANEL } from './panels';
import { SETTINGS_ID, SelfLoading, followSettings } from './settings';
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
    const selfLoading = setLoadWithDask && {
      isOn: (): boolean => panels.settings.loadWithDask,
      turnOn: (): void => { void setLoadWithDask(true); }
    };
    const panels: Panels = new Panels(app.shell, labShell, { owners, sessions, kernels, feeds, memory, cells, selfLoading });
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

/** For the layout restorer only; not offered anywhere. */
export const RESTORE = 'taskscope:restore-panel';

export const LOAD_WITH_DASK = 'taskscope:load-with-dask';

/** Add the commands; returns what offers them in a launcher, too. */
export function addCommands(
  app: JupyterFrontEnd,
  panels: Panels,
  palette: ICommandPalette | null,
  setLoadWithDask: ((isOn: boolean) => Promise<void>) | null
): (launcher: ILauncher) => void {
  const { commands } = app;
  const offered = [
    ...CHARTS.map(chart => {
      const command = `taskscope:open-${chart}`;
      commands.addCommand(command, {
        label: chartOf(chart).label(),
        caption: trans.__('Open it as a tab that follows the notebook in use'),
        icon: chartOf(chart).icon,
        execute: () => panels.open(chart)
      });
      return command;
    }),
    'taskscope:open-side-panel',
    ...(setLoadWithDask === null ? [] : [LOAD_WITH_DASK])
  ];
  commands.addCommand('taskscope:open-side-panel', {
    label: trans.__('Dask Side Panel'),
    caption: trans.__('Open the compact dashboard at the side; again: back to the notebook'),
    icon: sidePanelIcon,
    execute: () => {
      panels.toggleSidePanel();
    }
  });
  if (setLoadWithDask !== null) {
    commands.addCommand(LOAD_WITH_DASK, {
      label: trans.__('Always Load Taskscope with Dask'),
      caption: trans.__('Load it in each kernel that imports dask, or only where it is asked for'),
      icon: loadIcon,
      isToggled: () => panels.settings.loadWithDask,
      execute: () => setLoadWithDask(!panels.settings.loadWithDask)
    });
  }
  commands.addCommand(RESTORE, {
    execute: ({ id }) => (typeof id === 'string' ? panels.restore(id) : undefined)
  });
  const category = trans.__('Taskscope');
  for (const command of offered) {
    palette?.addItem({ command, category });
  }
  return launcher => {
    offered.forEach((command, rank) => {
      launcher.add({ command, category, rank });
    });
  };
}
