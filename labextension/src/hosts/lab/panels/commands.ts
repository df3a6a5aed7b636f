/** Commands, and where they are offered besides the menu and the shortcuts, which the schema declares. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';

import { trans } from '../../../lib/translate';
import { CHARTS, chartOf } from './charts';
import { dashboardIcon } from './icons';
import type { Panels } from './panels';

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
    icon: dashboardIcon,
    execute: () => {
      panels.toggleSidePanel();
    }
  });
  if (setLoadWithDask !== null) {
    commands.addCommand(LOAD_WITH_DASK, {
      label: trans.__('Always Load Taskscope with Dask'),
      caption: trans.__('Load it in each kernel that imports dask, or only where it is asked for'),
      icon: dashboardIcon,
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
