/** The frame around a widget's charts: a line that says what is not as it should be, and the charts. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { adoptStyles } from '../../charts/ui/styles';
import type { Feed } from '../lab/feed';
import { describeState } from '../lab/state';

const LOOK_MS = 1_000;

const CSS = `
.tsk-widget { min-width: 0; width: 100%; }
.tsk-note {
  padding: 2px 12px;
  color: var(--jp-ui-font-color2, #59636e);
  font: 12px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
}
.tsk-note[hidden] { display: none; }
`;

export interface Frame {
  /** Where charts go, in order. */
  readonly body: HTMLElement;
}

/** Where what is shown comes from. */
export type Source =
  | { readonly kind: 'live'; readonly feed: Feed }
  | { readonly kind: 'recorded' }
  | { readonly kind: 'no-kernel' };

/** Put a frame into `el` that says what is wrong with the source, until `signal` aborts. */
export function mountFrame(
  el: HTMLElement,
  source: Source,
  trans: TranslationBundle,
  signal: AbortSignal
): Frame {
  adoptStyles(el, CSS);
  el.classList.add('tsk-widget');
  const note = document.createElement('div');
  note.className = 'tsk-note';
  note.setAttribute('role', 'status');
  const body = document.createElement('div');
  body.className = 'tsk-body';
  el.replaceChildren(note, body);

  const show = (): void => {
    const text = describeSource(source, trans);
    note.hidden = text === null;
    // Setting equal text would make screen readers say it again.
    if (text !== null && note.textContent !== text) {
      note.textContent = text;
    }
  };
  show();
  if (source.kind === 'live') {
    const { feed } = source;
    feed.stateChanged.connect(show);
    const timer = setInterval(show, LOOK_MS);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      feed.stateChanged.disconnect(show);
    });
  }
  signal.addEventListener('abort', () => {
    el.replaceChildren();
    el.classList.remove('tsk-widget');
  });
  return { body };
}

function describeSource(source: Source, trans: TranslationBundle): string | null {
  switch (source.kind) {
    case 'live':
      return describeState(source.feed.state, source.feed.silentMs, source.feed.active, trans);
    case 'recorded':
      return null;
    case 'no-kernel':
      return trans.__('no kernel');
  }
}
