/** Keys pressed in a chart are the chart's: in a notebook each letter would do something to cells. */

/** Keep plain keys pressed inside of `root` from the page around it; those with Ctrl, Alt or Meta go on. */
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
