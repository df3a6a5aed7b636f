/** The widget models. The kernel sends all of their traits; the tasks themselves come by the feed, never in traits. */
import { DOMWidgetModel, type IBackboneModelOptions, type ISerializers, WidgetModel, unpack_models } from '@jupyter-widgets/base';
import type { ObjectHash } from 'backbone';

import type { TaskStore } from '../../store';
import { storeOf } from '../recorded';
import { MODULE_NAME, MODULE_VERSION, liveModels } from './live-models';

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
    return (this._store ??= storeOf(this.get('messages')));
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
    this.once('destroy', () => { liveModels.remove(this); });
    this.on('comm_live_update', () => {
      if (!this.comm_live) {
        liveModels.remove(this);
      }
    });
  }
}

export function chartModel(name: string): typeof ChartModel {
  return class extends ChartModel {
    override defaults(): ObjectHash {
      return { ...super.defaults(), ...identity(name) };
    }
  };
}

export const CHART_MODELS = Object.fromEntries(['Progress', 'Gantt', 'Dashboard', 'Resource', 'Cache', 'Flame'].map(name => [`${name}Model`, chartModel(name)]));
