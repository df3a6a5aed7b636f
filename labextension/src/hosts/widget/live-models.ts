/** The version of our widgets, and which of them have a kernel behind them: outputs wait for theirs, and show the picture till then. */
import { Signal } from '@lumino/signaling';

export interface LiveModel {
  readonly model_id: string;
  readonly comm_live: boolean;
}

export class LiveModels {
  /** A model has come to life. */
  readonly added = new Signal<this, LiveModel>(this);

  /** Note a model that was made; one of what a notebook saved has no kernel, and is none. */
  add(model: LiveModel): void {
    if (model.comm_live) {
      this._models.set(model.model_id, model);
      this.added.emit(model);
    }
  }

  /** Forget a model that was closed, or whose kernel is gone. */
  remove(model: LiveModel): void {
    if (this._models.get(model.model_id) === model) {
      this._models.delete(model.model_id);
    }
  }

  has(modelId: string): boolean {
    return this._models.get(modelId)?.comm_live === true;
  }

  private readonly _models = new Map<string, LiveModel>();
}

/** Those of this page: its widget managers make models of a class, and know nobody of ours to tell. */
export const liveModels = new LiveModels();

export const MODULE_NAME = 'taskscope';
export const MODULE_VERSION = '0.1.0';
