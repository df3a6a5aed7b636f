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

export function pointOf(canvas: Element, event: MouseEvent): CanvasPoint {
  const box = canvas.getBoundingClientRect();
  return { xPx: event.clientX - box.left, yPx: event.clientY - box.top };
}

/**
 * Leave the page its keyboard: in a notebook each letter does something to cells. Of the keys pressed inside of `root`,
 * those stay here that something here used, that a person types, or that press a button reached by Tab. After a click
 * on a button the cell around `root` has the focus again.
 */
export function keepKeys(root: HTMLElement, signal: AbortSignal): void {
  root.addEventListener(
    'keydown',
    event => {
      const { key, target, shiftKey } = event;
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const isTyped = target instanceof Element && target.matches('input, textarea, select');
      const presses = target instanceof Element && target.matches('button, summary') && !shiftKey && ['Enter', ' '].includes(key);
      if (event.defaultPrevented || (isPlain && (isTyped || presses))) {
        event.stopPropagation();
      }
    },
    { signal }
  );
  root.addEventListener(
    'click',
    ({ detail, target }) => {
      const { activeElement: focused } = document;
      const isByPointer = detail > 0 && target instanceof Element && target.closest('button, summary') !== null;
      // A menu, a question, a field or a chart that the click opened keeps the focus.
      const isDone = focused === null || focused === document.body || (focused.matches('button, summary') && focused.closest('[role=menu], [role=alertdialog]') === null);
      if (isByPointer && isDone) {
        root.closest<HTMLElement>('.jp-Cell')?.focus({ preventScroll: true });
      }
    },
    { signal }
  );
}
