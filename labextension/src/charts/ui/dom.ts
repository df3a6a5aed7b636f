/** Elements from code; text only ever as text, so that no task key becomes markup. */

type Attributes = Readonly<Record<string, string>>;

/** Make an element with attributes and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A place in CSS pixels from the top left corner of a canvas. */
export interface CanvasPoint {
  readonly xPx: number;
  readonly yPx: number;
}

/** Where on a canvas a pointer is. */
export function pointOf(canvas: Element, event: MouseEvent): CanvasPoint {
  const box = canvas.getBoundingClientRect();
  return { xPx: event.clientX - box.left, yPx: event.clientY - box.top };
}

/**
 * Keep plain keys pressed inside of `root` from the page around it: in a notebook each letter would do something to
 * cells. Those with Ctrl, Alt or Meta go on.
 */
export function keepKeys(root: HTMLElement, signal: AbortSignal): void {
  root.addEventListener(
    'keydown',
    event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) {
        event.stopPropagation();
      }
    },
    { signal }
  );
}
