/** Wheel, pointers and keys on a plot over time, as intents; knows no chart. */
import { listenToWheel } from '../gantt/gestures';
import type { PointerIntents } from '../gantt/pointers';
import { listenToPointers } from '../gantt/pointers';

export interface SeriesIntents extends PointerIntents {
  fit(): void;
  toggleFollow(): void;
  /** Move the cursor, and read out what is there. */
  step(direction: 1 | -1): void;
  clear(): void;
  /** A wheel that was left to the page. */
  hint(): void;
}

const PAN_PX = 80;
const ZOOM = 1.5;

export function listenToPlot(canvas: HTMLElement, intents: SeriesIntents, signal: AbortSignal): void {
  listenToWheel(canvas, intents, signal);
  listenToPointers(canvas, intents, () => false, signal);
  canvas.addEventListener('dblclick', () => { intents.fit(); }, { signal });
  canvas.addEventListener(
    'keydown',
    event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event, intents)) {
        event.preventDefault();
        // JupyterLab's own shortcuts must not act on the same key.
        event.stopPropagation();
      }
    },
    { signal }
  );
}

/** Do what a key stands for; false if it stands for nothing. */
function press({ key, shiftKey }: KeyboardEvent, intents: SeriesIntents): boolean {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight': {
      const direction = key === 'ArrowLeft' ? -1 : 1;
      if (shiftKey) {
        intents.step(direction);
      } else {
        intents.pan(direction * PAN_PX);
      }
      return true;
    }
    case 'a':
      intents.pan(-PAN_PX);
      return true;
    case 'd':
      intents.pan(PAN_PX);
      return true;
    case '+':
    case '=':
    case 'w':
      intents.zoom(1 / ZOOM, null);
      return true;
    case '-':
    case '_':
    case 's':
      intents.zoom(ZOOM, null);
      return true;
    case 'Home':
      intents.fit();
      return true;
    case 'f':
      intents.toggleFollow();
      return true;
    case 'Escape':
      intents.clear();
      return true;
    default:
      return false;
  }
}
