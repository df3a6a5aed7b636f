/**
 * Takes away the room of interactive charts in static results whose script does not run.
 *
 * A frame cannot tell its height, so a result keeps room for the chart; where the server's Content-Security-Policy
 * stops the script, which holds for frames, too, the picture would stand above an empty page.
 */
import { element } from '../../../charts/ui/dom';
import { adoptStyles } from '../../../charts/ui/styles';
import { SPOKEN } from '../../report/speak';

const FRAMES = '.taskscope-chart > iframe';
/** A script that runs speaks before its frame has loaded; so long the message may take. */
const PATIENCE_MS = 1_000;
const CSS = `
.taskscope-silent { color: var(--jp-ui-font-color2, #59636e); }
.taskscope-result .taskscope-chart.taskscope-folded { min-height: 0; }
.taskscope-folded > img { max-height: none !important; }
`;

export interface Silence {
  /** What is said in place of the chart. */
  readonly text: string;
  readonly signal: AbortSignal;
}

/** Watch the frames of results in this page, those that come later, too, until `signal` aborts. */
export function foldSilentFrames(root: Document, { text, signal }: Silence): void {
  const spoken = new WeakSet<object>();
  const hasSpoken = ({ contentWindow }: HTMLIFrameElement): boolean => contentWindow !== null && spoken.has(contentWindow);
  const onLoad = ({ target }: Event): void => {
    if (!(target instanceof HTMLIFrameElement) || !target.matches(FRAMES)) {
      return;
    }
    const timer = setTimeout(() => {
      if (!hasSpoken(target)) {
        fold(target, text);
      }
    }, PATIENCE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
  };
  const onMessage = ({ data, source }: MessageEvent): void => {
    if (data !== SPOKEN || source === null) {
      return;
    }
    spoken.add(source);
    for (const frame of root.querySelectorAll<HTMLIFrameElement>(FRAMES)) {
      if (frame.contentWindow === source) {
        unfold(frame);
      }
    }
  };
  // Loading does not bubble.
  root.addEventListener('load', onLoad, { capture: true, signal });
  root.defaultView?.addEventListener('message', onMessage, { signal });
}

const notes = new WeakMap<HTMLIFrameElement, HTMLElement>();

function fold(frame: HTMLIFrameElement, text: string): void {
  const chart = frame.parentElement;
  if (chart !== null && !notes.has(frame)) {
    const note = element('div', { class: 'taskscope-silent' }, text);
    notes.set(frame, note);
    chart.classList.add('taskscope-folded');
    frame.hidden = true;
    adoptStyles(chart, CSS);
    chart.append(note);
  }
}

function unfold(frame: HTMLIFrameElement): void {
  const note = notes.get(frame);
  if (note !== undefined) {
    notes.delete(frame);
    note.remove();
    frame.hidden = false;
    frame.parentElement?.classList.remove('taskscope-folded');
  }
}
