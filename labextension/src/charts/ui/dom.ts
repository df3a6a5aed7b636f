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

/** Set the text if it differs: equal text set again would be read aloud again. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) {
    target.textContent = text;
  }
}

/** A place in CSS pixels from an element's top left corner. */
export interface PointPx {
  readonly xPx: number;
  readonly yPx: number;
}

/** Where in an element a pointer is. */
export function placeOf(target: Element, event: MouseEvent): PointPx {
  const box = target.getBoundingClientRect();
  return { xPx: event.clientX - box.left, yPx: event.clientY - box.top };
}
