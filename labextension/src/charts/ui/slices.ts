/** Long work in short slices, so that the page stays alive. */

const SLICE_MS = 6;

/**
 * Call `step` until it returns true, a slice at a time; `told` hears after each slice whether that was all.
 *
 * @returns a function that ends it early
 */
export function inSlices(step: (isOver: () => boolean) => boolean, told: (done: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slice = (): void => {
    const endMs = performance.now() + SLICE_MS;
    const done = step(() => performance.now() >= endMs);
    timer = done ? undefined : setTimeout(slice, 0);
    told(done);
  };
  timer = setTimeout(slice, 0);
  return () => {
    clearTimeout(timer);
  };
}
