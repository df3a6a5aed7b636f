/** Gives the static results under cells the looks of JupyterLab, and the height that their charts need. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { type FromFrame, type FromPage, KIND, VARIABLES } from '../report/iframe';

const FRAMES = '.taskscope-chart > iframe';
const MAX_PX = 4_000;

export const plugin: JupyterFrontEndPlugin<void> = {
  id: 'taskscope:results',
  description: 'Gives static results the theme of the page and the height they need.',
  autoStart: true,
  activate: (): void => {
    serveResults(document, new AbortController().signal);
  }
};

/** Serve the frames of results in this page until `signal` aborts. */
export function serveResults(page: Document, signal: AbortSignal): void {
  const frames = (): Iterable<HTMLIFrameElement> => page.querySelectorAll<HTMLIFrameElement>(FRAMES);
  const onMessage = ({ data, source }: MessageEvent<Partial<FromFrame> | null>): void => {
    if (data?.kind !== KIND || source === null) {
      return;
    }
    for (const frame of frames()) {
      if (frame.contentWindow === source) {
        fit(frame, data.height);
      }
    }
  };
  const onToggle = ({ target }: Event): void => {
    for (const frame of frames()) {
      if (target instanceof Element && frame.closest('.taskscope-result')?.contains(target) === true) {
        dress(frame);
      }
    }
  };
  page.defaultView?.addEventListener('message', onMessage, { signal });
  // It does not bubble.
  page.addEventListener('toggle', onToggle, { capture: true, signal });
  const observer = new MutationObserver(() => { [...frames()].forEach(dress); });
  observer.observe(page.body, { attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light'] });
  signal.addEventListener('abort', () => { observer.disconnect(); }, { once: true });
}

/** A frame that has no content yet waits for its looks. */
function fit(frame: HTMLIFrameElement, height: unknown): void {
  if (height === 0) {
    dress(frame);
  } else if (typeof height === 'number' && height > 0 && frame.parentElement !== null) {
    frame.parentElement.style.minHeight = `${Math.min(Math.ceil(height), MAX_PX)}px`;
  }
}

function dress(frame: HTMLIFrameElement): void {
  const { body } = frame.ownerDocument;
  const style = getComputedStyle(body);
  const message: FromPage = {
    kind: KIND,
    dark: body.dataset.jpThemeLight === 'false',
    brief: !(frame.closest('.taskscope-result')?.querySelector('.taskscope-more[open]') instanceof Element),
    variables: Object.fromEntries(VARIABLES.map(name => [name, style.getPropertyValue(name)]))
  };
  // It has no origin that could be named.
  frame.contentWindow?.postMessage(message, '*');
}
