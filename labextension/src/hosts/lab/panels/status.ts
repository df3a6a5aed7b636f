/** What a panel says of its kernel, and what it offers to do about it. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { type FeedState, describeState, isPython } from '../state';
import type { SubjectState } from './subject';

/** What of a feed is told. */
export interface FeedNews {
  readonly state: FeedState;
  readonly silentMs: number;
  readonly active: boolean;
}

export interface Status {
  /** Null: all is well. */
  readonly text: string | null;
  /** Whether the kernel could load taskscope. */
  readonly mayLoad: boolean;
}

/** Say in words what is not as it should be. */
export function statusOf(subject: SubjectState, feed: FeedNews | null, trans: TranslationBundle): Status {
  switch (subject.kind) {
    case 'none':
      return said(trans.__('no notebook or console is open'));
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
      const text = describeState(feed.state, feed.silentMs, feed.active, trans);
      const closed = subject.open ? null : trans.__('the notebook is closed, its kernel runs on');
      return { text: text ?? closed, mayLoad: mayLoad(feed.state) };
    }
  }
}

function said(text: string): Status {
  return { text, mayLoad: false };
}

function mayLoad(state: FeedState): boolean {
  return state.kind === 'restarted' || (state.kind === 'not-loaded' && isPython(state));
}
