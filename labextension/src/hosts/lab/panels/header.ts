/** The header of a panel: whose kernel it shows, what is wrong with that, and what it offers to do about it. */

import { trans } from '../../../lib/translate';
import { element } from '../../../charts/ui/dom';
import type { Feed } from '../feed/feed';
import { type FeedState, describeState, isPython } from '../feed/state';
import type { HeaderActions, Shown, Status } from './header-view';
import type { TargetState } from './target';

export class PanelHeader {
  /** Where the chart goes, below it. */
  readonly body = element('div', { class: 'tsk-panel-body' });
  private readonly _el = element('div', { class: 'tsk-panel-header' });
  private _shown: Shown | null = null;

  constructor(
    root: HTMLElement,
    private readonly _actions: HeaderActions
  ) {
    root.classList.add('tsk-panel');
    root.append(this._el, this.body);
  }

  /** What draws it comes with the first panel that is seen, not when JupyterLab starts. */
  show(shown: Shown): void {
    this._shown = shown;
    this.body.classList.toggle('tsk-former', shown.former);
    void import('./header-view').then(({ drawHeader }) => {
      if (this._shown === shown) {
        drawHeader(this._el, { ...shown, ...this._actions, });
      }
    });
  }
}

/** Say in words what is not as it should be. */
export function statusOf(target: TargetState, feed: Feed | null): Status {
  switch (target.kind) {
    case 'none':
      return said(trans.__('open a notebook to see its Dask computations here'));
    case 'closed':
      return said(trans.__('the notebook is closed and its kernel is gone'));
    case 'no-kernel':
      return said(trans.__('no kernel'));
    case 'starting':
      return said(trans.__('waiting for a kernel'));
    case 'kernel': {
      if (feed === null) {
        return said(trans.__('waiting for a kernel'));
      }
      const text = describeState(feed.state);
      const closed = target.open ? null : trans.__('the notebook is closed, its kernel runs on');
      const { kind } = feed.state;
      return { text: text ?? closed, mayLoad: mayLoad(feed.state), former: kind === 'restarted' || kind === 'dead' };
    }
  }
}

function said(text: string): Status {
  return { text, mayLoad: false, former: false };
}

function mayLoad(state: FeedState): boolean {
  return state.kind === 'restarted' || (state.kind === 'not-loaded' && isPython(state));
}
