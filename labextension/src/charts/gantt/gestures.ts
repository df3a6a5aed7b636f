/** Wheel, pointer and keys of the Gantt chart, as intents; knows no chart. */

export interface Intents {
  /** Scale by `factor` around a place of the canvas. */
  zoom(factor: number, atPx: number | null): void;
  pan(px: number): void;
  scrollLanes(direction: 1 | -1): void;
  fit(): void;
  toggleFollow(): void;
  hover(place: { xPx: number; yPx: number } | null): void;
  click(place: { xPx: number; yPx: number }): void;
  clearSelection(): void;
  /** A wheel that was left to the page. */
  hint(): void;
}

const DRAG_PX = 4;
const KEY_PAN_PX = 80;
const KEY_ZOOM = 1.5;

export function listenToGestures(canvas: HTMLElement, intents: Intents, signal: AbortSignal): void {
  listenToWheel(canvas, intents, signal);
  listenToPointer(canvas, intents, signal);
  canvas.addEventListener(
    'keydown',
    event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event.key, intents)) {
        event.preventDefault();
        // JupyterLab's own shortcuts must not act on the same key.
        event.stopPropagation();
      }
    },
    { signal }
  );
}

/** Do what a key stands for; false if it stands for nothing. */
export function press(key: string, intents: Intents): boolean {
  const actions: Record<string, () => void> = {
    arrowleft: () => { intents.pan(-KEY_PAN_PX); },
    a: () => { intents.pan(-KEY_PAN_PX); },
    arrowright: () => { intents.pan(KEY_PAN_PX); },
    d: () => { intents.pan(KEY_PAN_PX); },
    w: () => { intents.zoom(1 / KEY_ZOOM, null); },
    '+': () => { intents.zoom(1 / KEY_ZOOM, null); },
    '=': () => { intents.zoom(1 / KEY_ZOOM, null); },
    s: () => { intents.zoom(KEY_ZOOM, null); },
    '-': () => { intents.zoom(KEY_ZOOM, null); },
    arrowup: () => { intents.scrollLanes(-1); },
    arrowdown: () => { intents.scrollLanes(1); },
    home: () => { intents.fit(); },
    f: () => { intents.toggleFollow(); },
    escape: () => { intents.clearSelection(); }
  };
  const action = Object.hasOwn(actions, key.toLowerCase()) ? actions[key.toLowerCase()] : undefined;
  action?.();
  return action !== undefined;
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
        // A pinch comes as many small steps with ctrl.
        const strength = event.ctrlKey ? 0.01 : 0.002;
        intents.zoom(Math.exp(Math.min(Math.max(event.deltaY * unit, -300), 300) * strength), xOf(canvas, event));
      }
    },
    { signal, passive: false }
  );
}

function listenToPointer(canvas: HTMLElement, intents: Intents, signal: AbortSignal): void {
  let drag: { fromPx: number; lastPx: number; moved: boolean } | null = null;
  canvas.addEventListener(
    'pointerdown',
    event => {
      if (event.button === 0) {
        drag = { fromPx: event.clientX, lastPx: event.clientX, moved: false };
      }
    },
    { signal }
  );
  canvas.addEventListener(
    'pointermove',
    event => {
      if (drag === null) {
        intents.hover(placeOf(canvas, event));
        return;
      }
      if (!drag.moved && Math.abs(event.clientX - drag.fromPx) >= DRAG_PX) {
        drag.moved = true;
        canvas.setPointerCapture(event.pointerId);
        intents.hover(null);
      }
      if (drag.moved) {
        intents.pan(drag.lastPx - event.clientX);
        drag.lastPx = event.clientX;
      }
    },
    { signal }
  );
  canvas.addEventListener(
    'pointerup',
    event => {
      if (drag?.moved === false) {
        intents.click(placeOf(canvas, event));
      }
      drag = null;
    },
    { signal }
  );
  for (const name of ['pointercancel', 'pointerleave'] as const) {
    canvas.addEventListener(
      name,
      () => {
        if (name === 'pointercancel' || drag?.moved !== true) {
          drag = null;
        }
        intents.hover(null);
      },
      { signal }
    );
  }
  canvas.addEventListener('dblclick', () => { intents.fit(); }, { signal });
}

function placeOf(canvas: HTMLElement, event: MouseEvent): { xPx: number; yPx: number } {
  const box = canvas.getBoundingClientRect();
  return { xPx: event.clientX - box.left, yPx: event.clientY - box.top };
}

function xOf(canvas: HTMLElement, event: MouseEvent): number {
  return placeOf(canvas, event).xPx;
}
