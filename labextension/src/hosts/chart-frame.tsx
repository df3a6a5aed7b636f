/** The frame around a widget's charts: a line that says what is not as it should be and leads to a panel, and the charts. */
import type { LabIcon } from '@jupyterlab/ui-components';

import type { ComponentChildren } from '../charts/ui/render';
import { render } from '../charts/ui/render';
import { adoptStyles } from '../charts/ui/theme';
import { trans } from '../lib/translate';
import type { Feed } from './lab/feed/feed';
import { describeState } from './lab/feed/state';

const CSS = `
.tsk-widget { min-width: 0; width: 100%; }
.tsk-frame-head { display: flex; justify-content: flex-end; }
.tsk-note {
  flex: 1; padding: 2px 12px;
  color: var(--jp-ui-font-color2, #59636e);
  font: 12px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
}
.tsk-note[hidden] { display: none; }
.tsk-former > .tsk-body { filter: grayscale(1); }
.tsk-former > .tsk-body canvas { opacity: 0.6; }
.tsk-frame-button {
  display: inline-flex; align-items: center; justify-content: center; width: 24px; height: 24px; padding: 0;
  border: 0; border-radius: 3px; background: none; cursor: pointer;
}
.tsk-frame-button:hover { background: var(--jp-layout-color2, #e5e5e5); }
.tsk-frame-button:focus-visible { outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: -1px; }
`;

/** A button of the frame. */
export interface FrameButton {
  readonly icon: LabIcon;
  readonly label: string;
  readonly act: () => void;
}

/** Where what is shown comes from. */
export type Source =
  | { readonly kind: 'live'; readonly feed: Feed; readonly recorder: string; readonly buttons: readonly FrameButton[] }
  | { readonly kind: 'recorded' }
  | { readonly kind: 'saved' }
  | { readonly kind: 'no-kernel' };

/** Put a frame into `el` that says what is wrong with the source, until `signal` aborts; returns where charts go. */
export function mountFrame(el: HTMLElement, source: Source, signal: AbortSignal): HTMLElement {
  adoptStyles(el, CSS);
  el.classList.add('tsk-widget');
  const show = (): void => {
    const text = describeSource(source);
    const buttons = source.kind === 'live' ? source.buttons : [];
    el.classList.toggle('tsk-former', isFormer(source));
    render(
      <>
        <div class="tsk-frame-head">
          <div class="tsk-note" role="status" hidden={text === null}>{text}</div>
          {buttons.map(button => <IconButton key={button.label} {...button} />)}
        </div>
        <div class="tsk-body" />
      </>,
      el
    );
  };
  el.replaceChildren();
  show();
  if (source.kind === 'live') {
    const { feed } = source;
    feed.stateChanged.connect(show);
    signal.addEventListener('abort', () => { feed.stateChanged.disconnect(show); });
  }
  signal.addEventListener('abort', () => {
    render(null, el);
    el.classList.remove('tsk-widget', 'tsk-former');
  });
  return el.lastElementChild as HTMLElement;
}

function IconButton({ icon, act, label }: FrameButton): ComponentChildren {
  // JupyterLab's icons make elements of their own.
  const addIcon = (button: HTMLButtonElement | null): void => {
    if (button?.childElementCount === 0) {
      icon.element({ container: button, width: '14px', height: '14px' });
    }
  };
  return <button type="button" class="tsk-frame-button" title={label} aria-label={label} ref={addIcon} onClick={act} />;
}

/** Whether the kernel that it came from has been restarted. */
function isFormer(source: Source): boolean {
  if (source.kind !== 'live') {
    return false;
  }
  const { feed, recorder } = source;
  return feed.state.kind === 'restarted' || (feed.recorder !== '' && feed.recorder !== recorder);
}

function describeSource(source: Source): string | null {
  switch (source.kind) {
    case 'live':
      if (isFormer(source)) {
        return trans.__('kernel restarted: this is what was there before');
      }
      return describeState(source.feed.state);
    case 'recorded':
      return null;
    case 'saved':
      return trans.__('this widget belongs to an earlier kernel: run its cell again');
    case 'no-kernel':
      return trans.__('no kernel');
  }
}
