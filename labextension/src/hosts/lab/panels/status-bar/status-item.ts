/** An item of JupyterLab's status bar: how far the computes of the notebook in use are; it leads to the side panel. */
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { TaskStore } from '../../../../store';
import { FeedFollower } from '../../feed/follower';
import type { IFeeds } from '../../feed/feeds';
import type { PanelTarget } from '../target';

export class StatusItem extends Widget {
  /** @param _act is called when a person presses it */
  constructor(
    private readonly _target: PanelTarget,
    feeds: IFeeds,
    private readonly _act: () => void
  ) {
    super();
    this.addClass('tsk-status');
    const kernelId = (): string | undefined => (_target.state.kind === 'kernel' ? _target.state.model.id : undefined);
    this._follower = new FeedFollower(feeds, kernelId, () => {
      this._refresh();
    });
    _target.changed.connect(this._follower.follow);
  }

  /** Whether there is anything to say. */
  get isActive(): boolean {
    return this._isActive;
  }

  readonly activeChanged = new Signal<this, void>(this);

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._follower.dispose();
    this._target.dispose();
    Signal.clearData(this);
    super.dispose();
  }

  private _refresh(): void {
    const store = this._store();
    const isActive = store !== null && store.tables.runs.size > 0;
    if (isActive) {
      void import('./status-text').then(({ drawStatus }) => {
        if (store === this._store()) {
          drawStatus(this.node, store, this._act);
        }
      });
    }
    if (isActive !== this._isActive) {
      this._isActive = isActive;
      this.activeChanged.emit();
    }
  }

  /** The store of a kernel that answers. */
  private _store(): TaskStore | null {
    return this._follower.state === 'live' ? this._follower.store : null;
  }

  private readonly _follower: FeedFollower;
  private _isActive = false;
}
