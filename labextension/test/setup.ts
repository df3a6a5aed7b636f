/** What jsdom lacks, and what a test leaves behind: the files that one worker runs share a page. */
import { afterEach, vi } from 'vitest';

if ('HTMLCanvasElement' in globalThis) {
  // jsdom writes a page to stderr for each canvas that is asked for a context, and gives none.
  HTMLCanvasElement.prototype.getContext = () => null;
  // Lumino asks for it when it is loaded.
  Object.assign(globalThis, { DragEvent: MouseEvent });
}

afterEach(() => {
  vi.useRealTimers();
  if ('document' in globalThis) {
    document.body.replaceChildren();
  }
});
