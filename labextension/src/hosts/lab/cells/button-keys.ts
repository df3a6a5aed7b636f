/** Lets the keys of a notebook act on the cell of a button, as they do beside a button of plain HTML in an output. */

/**
 * Enter and Space press the button in `root` that has the focus; all other keys are the notebook's. A click of the
 * pointer leaves the focus with the cell, where Enter, too, is the notebook's.
 */
export function pressedAsButton(root: HTMLElement, signal: AbortSignal): void {
  root.addEventListener(
    'keydown',
    event => {
      if ((event.key === 'Enter' || event.key === ' ') && !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey) {
        event.stopPropagation();
      }
    },
    { signal }
  );
  root.addEventListener(
    'click',
    ({ detail }) => {
      // Keys click, too: those have no count of clicks.
      if (detail > 0) {
        root.closest<HTMLElement>('.jp-Cell')?.focus({ preventScroll: true });
      }
    },
    { signal }
  );
}
