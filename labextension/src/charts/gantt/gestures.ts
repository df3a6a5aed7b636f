/** Wheel, keys and double clicks of the Gantt chart, as intents; knows no chart. */
import { placeOf } from '../ui/dom';
import type { KeyIntents } from './keys';
import { press } from './keys';
import type { PointerIntents } from './pointers';
import { listenToPointers } from './pointers';

export interface Intents extends KeyIntents, PointerIntents {
  /** A wheel that was left to the page. */
  hint(): void;
}

/** @param boxByDrag whether a drag chooses a span even without shift */
export function listenToGestures(canvas: HTMLElement, intents: Intents, boxByDrag: () => boolean, signal: AbortSignal): void {
  listenToWheel(canvas, intents, signal);
  listenToPointers(canvas, intents, boxByDrag, signal);
  canvas.addEventListener('dblclick', () => { intents.fit(); }, { signal });
  canvas.addEventListener(
    'keydown',
    event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event.key, intents)) {
        event.preventDefault();
      }
    },
    { signal }
  );
}

/** What the wheel asks for. */
type WheelIntents = Pick<Intents, 'zoom' | 'pan' | 'hint'>;

export function listenToWheel(canvas: HTMLElement, intents: WheelIntents, signal: AbortSignal): void {
  canvas.addEventListener(
    'wheel',
    event => {
      const focused = canvas.ownerDocument.activeElement === canvas || canvas.matches(':focus');
      if (!focused && !event.ctrlKey && !event.metaKey) {
        intents.hint();
        return;
      }
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        intents.pan((event.deltaX || event.deltaY) * unit);
      } else {
        // A pinch on a touchpad comes as many small steps with ctrl.
        const strength = event.ctrlKey ? 0.01 : 0.002;
        const steps = Math.min(Math.max(event.deltaY * unit, -300), 300);
        intents.zoom(Math.exp(steps * strength), placeOf(canvas, event).xPx);
      }
    },
    { signal, passive: false }
  );
}
