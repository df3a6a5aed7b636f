/** What a person has set, read from JupyterLab's settings, which have checked it against our schema. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { DockLayout } from '@lumino/widgets';

import { FEED_DEFAULTS, type FeedSettings } from '../feed/settings';
import { type ChartName, isChartName } from './charts/charts';

export const SETTINGS_ID = 'taskscope:plugin';

export interface Place {
  readonly chart: ChartName;
  readonly mode: DockLayout.InsertMode;
  /** Next to which of our panels; null: next to what is in use. */
  readonly ref: ChartName | null;
}

export interface Settings extends FeedSettings {
  readonly followMode: 'active' | 'pinned';
  readonly autoOpen: 'nothing' | 'side-panel' | 'layout';
  readonly defaultLayout: readonly Place[];
  /** Whether kernels load taskscope by themselves, once they import dask. */
  readonly loadWithDask: boolean;
}

export const DEFAULTS: Settings = {
  ...FEED_DEFAULTS,
  followMode: 'active',
  autoOpen: 'nothing',
  defaultLayout: [],
  loadWithDask: false
};

/** Have `apply` called with the settings, now and whenever they change. */
export async function followSettings(registry: ISettingRegistry, apply: (settings: Settings) => void): Promise<void> {
  const loaded = await registry.load(SETTINGS_ID);
  const read = (): void => {
    apply(settingsOf(name => loaded.get(name).composite));
  };
  loaded.changed.connect(read);
  read();
}

function settingsOf(get: (name: keyof Settings) => unknown): Settings {
  return {
    updatesPerSecond: get('updatesPerSecond') as number,
    followMode: get('followMode') as Settings['followMode'],
    autoOpen: get('autoOpen') as Settings['autoOpen'],
    defaultLayout: placesOf(get('defaultLayout')),
    loadWithDask: get('loadWithDask') as boolean,
    maxTasks: get('maxTasks') as number
  };
}

/** Which panels open where, in the order they are written in. */
function placesOf(layout: unknown): Place[] {
  return Object.entries(layout as Record<string, { mode: DockLayout.InsertMode; ref?: string | null }>).flatMap(
    ([chart, { mode, ref }]) => (isChartName(chart) ? [{ chart, mode, ref: isChartName(ref) ? ref : null }] : [])
  );
}
