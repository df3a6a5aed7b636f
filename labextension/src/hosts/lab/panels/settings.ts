/** What a person has set, read from JupyterLab's settings, which have checked it against our schema. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { FEED_DEFAULTS, type FeedSettings } from '../feed/settings';

export const SETTINGS_ID = 'taskscope:plugin';

export interface Settings extends FeedSettings {
  readonly followMode: 'active' | 'pinned';
  readonly autoOpen: 'nothing' | 'side-panel';
  /** Whether kernels load taskscope by themselves, once they import dask. */
  readonly loadWithDask: boolean;
}

export const DEFAULTS: Settings = {
  ...FEED_DEFAULTS,
  followMode: 'active',
  autoOpen: 'nothing',
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
    loadWithDask: get('loadWithDask') as boolean,
    maxTasks: get('maxTasks') as number
  };
}
