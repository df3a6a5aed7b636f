/** The widget models: their traits' defaults. The tasks themselves come by the feed, never in traits. */
import { DOMWidgetModel, type IBackboneModelOptions, type ISerializers, WidgetModel, unpack_models } from '@jupyter-widgets/base';
import type { ObjectHash } from 'backbone';

import type { TaskStore } from '../../store';
import { decodeLinks } from '../../wire';
import { storeOf } from '../recorded';
import { liveModels } from './live-models';
import { MODULE_NAME, MODULE_VERSION } from './version';

const WINDOW = { recorder_id: '', epoch: '', first_run: 0, last_run: null, shows_now: false, recorded: null };

const PROGRESS = {
  total: 0,
  finished: 0,
  running: 0,
  erred: 0,
  starting: '',
  skipped: 0,
  queued: null,
  waiting: null,
  no_worker: null,
  asked: null,
  asked_s: null,
  fraction: 0,
  elapsed_s: 0,
  eta_s: null,
  eta_low_s: null,
  eta_high_s: null,
  eta_unseen: 0,
  state: 'waiting',
  groups: []
};

const GANTT = {
  n_tasks: 0,
  n_lanes: 0,
  dropped: 0,
  follow: true,
  time_range: null,
  selected_key: null
};

const RESOURCE = {
  cpu_percent: null,
  cpu_peak_percent: null,
  n_cores: null,
  rss_bytes: null,
  rss_peak_bytes: null,
  limit_bytes: null,
  n_processes: 0,
  n_samples: 0,
  n_gaps: 0
};

const CACHE = {
  metric: 'nbytes',
  n_keys: 0,
  nbytes: 0,
  n_unsized: 0,
  value: null,
  n_unvalued: 0,
  peak_n_keys: 0,
  peak_nbytes: 0,
  peak_value: null,
  peak_at_least: false,
  peak_s: null,
  peak_groups: []
};

const FLAME = { n_samples: 0, sampled_s: 0, note: null, data: {} };

function identity(name: string): ObjectHash {
  return {
    _model_name: `${name}Model`,
    _model_module: MODULE_NAME,
    _model_module_version: MODULE_VERSION,
    _view_name: `${name}View`,
    _view_module: MODULE_NAME,
    _view_module_version: MODULE_VERSION
  };
}

/** A finished recording; all widgets that show it share its store. */
export class RecordingModel extends WidgetModel {
  override defaults(): ObjectHash {
    return {
      ...super.defaults(),
      _model_name: 'RecordingModel',
      _model_module: MODULE_NAME,
      _model_module_version: MODULE_VERSION,
      messages: []
    };
  }

  /** Made of the messages when first asked for. */
  get store(): TaskStore {
    return (this._store ??= this._newStore());
  }

  private _newStore(): TaskStore {
    const store = storeOf(this.get('messages'), row => {
      if (this.comm_live) {
        this.send({ verb: 'dependencies', row }, this.callbacks());
      }
      return this.comm_live;
    });
    this.on('msg:custom', (answer: unknown) => {
      store.answerLinks(store.epoch ?? '', decodeLinks(answer));
    });
    return store;
  }

  private _store: TaskStore | undefined;
}

class ChartModel extends DOMWidgetModel {
  static override serializers: ISerializers = {
    ...DOMWidgetModel.serializers,
    recorded: { deserialize: unpack_models }
  };

  override initialize(attributes: ObjectHash, options: IBackboneModelOptions): void {
    super.initialize(attributes, options);
    liveModels.add(this);
  }
}

export class ProgressModel extends ChartModel {
  override defaults(): ObjectHash {
    return { ...super.defaults(), ...identity('Progress'), ...WINDOW, ...PROGRESS };
  }
}

export class GanttModel extends ChartModel {
  override defaults(): ObjectHash {
    return { ...super.defaults(), ...identity('Gantt'), ...WINDOW, ...GANTT };
  }
}

export class DashboardModel extends ChartModel {
  override defaults(): ObjectHash {
    return { ...super.defaults(), ...identity('Dashboard'), ...WINDOW, ...PROGRESS, ...GANTT, ...RESOURCE, ...CACHE, compact: false };
  }
}

export class ResourceModel extends ChartModel {
  override defaults(): ObjectHash {
    return { ...super.defaults(), ...identity('Resource'), ...WINDOW, ...RESOURCE };
  }
}

export class CacheModel extends ChartModel {
  override defaults(): ObjectHash {
    return { ...super.defaults(), ...identity('Cache'), ...WINDOW, ...CACHE };
  }
}

export class FlameModel extends ChartModel {
  override defaults(): ObjectHash {
    return { ...super.defaults(), ...identity('Flame'), ...WINDOW, ...FLAME };
  }
}
