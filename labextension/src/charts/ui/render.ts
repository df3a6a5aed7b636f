/** What makes and changes elements: preact, whose components here have no state that lives longer than they are seen. */
import type { ComponentChild } from 'preact';
import { options, render as renderInto } from 'preact';

// What a person did is seen at once, not a task later: focus follows, and tests need not wait.
options.debounceRendering = renderNow => { renderNow(); };

export { Component, createRef, Fragment } from 'preact';
export type { ComponentChildren, RefObject } from 'preact';

/** Have `parent` hold what is described, by as few changes as that takes; null: nothing. */
export function render(described: ComponentChild, parent: Element): void {
  renderInto(described, parent);
}
