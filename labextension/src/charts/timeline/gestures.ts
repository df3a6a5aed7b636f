/** Wheel, pointers and keys on a track, as intents; knows no track. */
import type { CanvasPoint } from '../ui/dom';
import { pointOf } from '../ui/dom';

export interface PointerIntents {
  zoom(factor: number, atPx: number | null): void;
  pan(px: number): void;
  /** A span is being chosen; null: no longer. */
  band(edgesPx: readonly [number, number] | null): void;
  /** A span was chosen. */
  choose(edgesPx: readonly [number, number]): void;
  hover(point: CanvasPoint | null): void;
  click(point: CanvasPoint): void;
}

/** What gestures ask for. */
export interface Intents extends PointerIntents {
  fit(): void;
  /** A wheel that was left to the page. */
  hint(): void;
  /** Do what a key stands for; false if it stands for nothing. */
  press(key: string, shift: boolean): boolean;
  /** Whether it is of no time: the wheel scrolls, a double click is two. */
  readonly isTimeless?: boolean;
}

/** @param boxByDrag whether a drag from a place chooses a span even without shift */
export function listenToGestures(canvas: HTMLElement, intents: Intents, boxByDrag: (from: CanvasPoint) => boolean, signal: AbortSignal): void {
  if (intents.isTimeless !== true) {
    listenToWheel(canvas, intents, signal);
    canvas.addEventListener('dblclick', () => { intents.fit(); }, { signal });
  }
  listenToPointers(canvas, intents, boxByDrag, signal);
  canvas.addEventListener(
    'keydown',
    event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && intents.press(event.key, event.shiftKey)) {
        event.preventDefault();
      }
    },
    { signal }
  );
}

function listenToWheel(canvas: HTMLElement, intents: Intents, signal: AbortSignal): void {
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
        intents.zoom(Math.exp(steps * strength), pointOf(canvas, event).xPx);
      }
    },
    { signal, passive: false }
  );
}

const DRAG_PX = 4;

type Gesture =
  | { readonly kind: 'press'; readonly at: CanvasPoint; readonly box: boolean }
  | { readonly kind: 'drag'; readonly lastPx: number }
  | { readonly kind: 'box'; readonly fromPx: number }
  | { readonly kind: 'pinch'; readonly apartPx: number; readonly middlePx: number }
  | null;

function listenToPointers(canvas: HTMLElement, intents: PointerIntents, boxByDrag: (from: CanvasPoint) => boolean, signal: AbortSignal): void {
  const fingers = new Map<number, CanvasPoint>();
  let gesture: Gesture = null;
  const end = (): void => {
    if (gesture?.kind === 'box') {
      intents.band(null);
    }
    gesture = null;
  };
  const move = (at: CanvasPoint, pointerId: number): void => {
    if (gesture?.kind === 'press' && Math.abs(at.xPx - gesture.at.xPx) >= DRAG_PX) {
      canvas.setPointerCapture(pointerId);
      intents.hover(null);
      gesture = gesture.box ? { kind: 'box', fromPx: gesture.at.xPx } : { kind: 'drag', lastPx: gesture.at.xPx };
    }
    if (gesture?.kind === 'drag') {
      intents.pan(gesture.lastPx - at.xPx);
      gesture = { kind: 'drag', lastPx: at.xPx };
    } else if (gesture?.kind === 'box') {
      intents.band([gesture.fromPx, at.xPx]);
    }
  };
  const pinch = (): void => {
    const now = pinchOf(fingers);
    if (gesture?.kind === 'pinch' && now.apartPx > 0) {
      intents.pan(gesture.middlePx - now.middlePx);
      intents.zoom(gesture.apartPx / now.apartPx, now.middlePx);
    }
    gesture = now;
  };
  canvas.addEventListener(
    'pointerdown',
    event => {
      if (event.button !== 0) {
        return;
      }
      const at = pointOf(canvas, event);
      fingers.set(event.pointerId, at);
      if (fingers.size === 2) {
        end();
        intents.hover(null);
        gesture = pinchOf(fingers);
      } else if (fingers.size === 1) {
        gesture = { kind: 'press', at, box: event.shiftKey || boxByDrag(at) };
      }
    },
    { signal }
  );
  canvas.addEventListener(
    'pointermove',
    event => {
      const at = pointOf(canvas, event);
      if (fingers.has(event.pointerId)) {
        fingers.set(event.pointerId, at);
      }
      if (gesture === null) {
        intents.hover(at);
      } else if (gesture.kind === 'pinch') {
        pinch();
      } else {
        move(at, event.pointerId);
      }
    },
    { signal }
  );
  canvas.addEventListener(
    'pointerup',
    event => {
      const at = pointOf(canvas, event);
      const last = gesture;
      fingers.delete(event.pointerId);
      end();
      if (last?.kind === 'press') {
        intents.click(at);
      } else if (last?.kind === 'box' && Math.abs(at.xPx - last.fromPx) >= DRAG_PX) {
        intents.choose([Math.min(last.fromPx, at.xPx), Math.max(last.fromPx, at.xPx)]);
      }
    },
    { signal }
  );
  for (const name of ['pointercancel', 'pointerleave'] as const) {
    canvas.addEventListener(
      name,
      event => {
        // A captured pointer that leaves is still dragging.
        if (name === 'pointercancel' || gesture?.kind === 'press' || gesture === null) {
          fingers.delete(event.pointerId);
          end();
        }
        intents.hover(null);
      },
      { signal }
    );
  }
}

/** How far two fingers are apart, and their middle. */
function pinchOf(fingers: ReadonlyMap<number, CanvasPoint>): Extract<Gesture, { kind: 'pinch' }> {
  const [a, b] = [...fingers.values()];
  const [ax, ay, bx, by] = [a?.xPx ?? 0, a?.yPx ?? 0, b?.xPx ?? 0, b?.yPx ?? 0];
  return { kind: 'pinch', apartPx: Math.hypot(ax - bx, ay - by), middlePx: (ax + bx) / 2 };
}
