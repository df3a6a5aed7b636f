/** What a person has set, which JupyterLab has checked against our schema, and the kernels that load taskscope by themselves. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

import { FEED_DEFAULTS, type FeedSettings, isPython } from '../feed/state';
import { execute } from '../kernel/messages';
import type { OwnerTracker, OwnerWidget } from './owners';

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
    maxTasks: get('maxTasks') as number,
    keepHistory: get('keepHistory') as boolean
  };
}

const LOAD = '%load_ext taskscope.with_dask';

export class SelfLoading {
  constructor(private readonly _trackers: readonly OwnerTracker[]) {}

  /** Whether kernels are told to; those that were told before stay so. */
  set isOn(isOn: boolean) {
    if (isOn === this._isOn) {
      return;
    }
    this._isOn = isOn;
    for (const tracker of this._trackers) {
      tracker.forEach(isOn ? this._add : this._remove);
      tracker.widgetAdded[isOn ? 'connect' : 'disconnect'](this._onAdded);
    }
  }

  private readonly _onAdded = (_: unknown, widget: OwnerWidget): void => {
    this._add(widget);
  };

  private readonly _add = ({ sessionContext }: OwnerWidget): void => {
    sessionContext.statusChanged.connect(this._onStatus);
    this._onStatus(sessionContext);
  };

  private readonly _remove = ({ sessionContext }: OwnerWidget): void => {
    sessionContext.statusChanged.disconnect(this._onStatus);
  };

  private readonly _onStatus = ({ session }: ISessionContext): void => {
    const kernel = session?.kernel;
    if (kernel?.status === 'restarting' || kernel?.status === 'autorestarting') {
      this._told.delete(kernel.id);
    } else if ((kernel?.status === 'idle' || kernel?.status === 'busy') && !this._told.has(kernel.id)) {
      this._told.add(kernel.id);
      // It may be shut down or restarted before it answers, and may not have taskscope: panels say so.
      tell(kernel).catch(() => undefined);
    }
  };

  private _isOn = false;
  /** The kernels that were told since they began. */
  private readonly _told = new Set<string>();
}

async function tell(kernel: Kernel.IKernelConnection): Promise<void> {
  const { language_info: language } = await kernel.info;
  if (isPython({ language: language.name })) {
    await execute(kernel, LOAD);
  }
}
