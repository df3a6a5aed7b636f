/** What the first script of a static result says, so that a notebook around its frame knows that it runs. */
export const SPOKEN = 'taskscope:report-runs';

/** Tell the page around this one, if there is one. */
export function speak(): void {
  if (window.parent !== window) {
    // Nothing of the recording is in it, and the frame, which is of no origin, cannot know who holds it.
    window.parent.postMessage(SPOKEN, '*');
  }
}
