/** What jsdom lacks, for all tests. */

// jsdom writes a page to stderr for each canvas that is asked for a context, and gives none.
if ('HTMLCanvasElement' in globalThis) {
  HTMLCanvasElement.prototype.getContext = () => null;
}
