import { afterEach, beforeEach } from 'vitest';

/** A page without a canvas, and the signal of what is shown there, which ends with each test. */
export function emptyPages(): { readonly signal: AbortSignal; readonly leave: () => void } {
  let controller = new AbortController();
  beforeEach(() => {
    controller = new AbortController();
  });
  afterEach(() => {
    controller.abort();
    document.body.replaceChildren();
  });
  return {
    get signal() {
      return controller.signal;
    },
    leave: () => {
      controller.abort();
    }
  };
}

/** Puts data into the page as Python does. */
export function embed(name: string, text: string, parent: Element = document.body): HTMLScriptElement {
  const data = document.createElement('script');
  data.type = 'application/json';
  data.className = name;
  data.textContent = text;
  parent.append(data);
  return data;
}

/** Puts a picture into the page that the interactive chart folds away. */
export function picture(parent: Element = document.body): HTMLDetailsElement {
  const details = document.createElement('details');
  details.className = 'taskscope-picture';
  details.open = true;
  parent.append(details);
  return details;
}
