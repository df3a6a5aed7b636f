/** Painting when something changed, and never more often than the screen shows it. */

/** What painting asks for next: nothing, to go on in the next frame, to be called again because something grows, or once nothing was asked for in a while. */
export type Painted = 'still' | 'unfinished' | 'growing' | 'approximate';

const GROWING_MS = 33;
/** A picture that takes long to paint is painted less often, so that the page stays free at least half of the time. */
const PAUSE_PER_PAINT = 2;
/** A gesture that rests as long as this is over for now. */
const REST_MS = 120;

export class FrameLoop {
  #frame: number | null = null;
  #dirty = false;
  #paintedMs = -Infinity;
  #tookMs = 0;
  #refine: ReturnType<typeof setTimeout> | undefined;

  /** @param paint is called in an animation frame, after `request` or while it returned `growing` */
  constructor(
    private readonly paint: () => Painted,
    private readonly signal: AbortSignal
  ) {
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(this.#refine);
        if (this.#frame !== null) {
          cancelAnimationFrame(this.#frame);
          this.#frame = null;
        }
      },
      { once: true }
    );
  }

  /** Paint soon. Any number of calls before that lead to one painting. */
  request(): void {
    this.#dirty = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#frame === null && !this.signal.aborted) {
      this.#frame = requestAnimationFrame(this.#onFrame);
    }
  }

  readonly #onFrame = (timeMs: number): void => {
    this.#frame = null;
    if (!this.#dirty && timeMs - this.#paintedMs < Math.max(GROWING_MS, this.#tookMs * PAUSE_PER_PAINT)) {
      this.#schedule();
      return;
    }
    this.#dirty = false;
    clearTimeout(this.#refine);
    this.#paintedMs = timeMs;
    const beganMs = performance.now();
    const painted = this.paint();
    this.#tookMs = performance.now() - beganMs;
    if (painted === 'unfinished') {
      this.request();
    } else if (painted === 'growing') {
      this.#schedule();
    } else if (painted === 'approximate') {
      this.#refine = setTimeout(() => { this.request(); }, REST_MS);
    }
  };
}

const SLICE_MS = 6;

/**
 * Call `step` until it returns true, a slice at a time; `heard` is called after each slice with whether that was all.
 *
 * @returns a function that ends it early
 */
export function inSlices(step: (isOver: () => boolean) => boolean, heard: (done: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slice = (): void => {
    const endMs = performance.now() + SLICE_MS;
    const done = step(() => performance.now() >= endMs);
    timer = done ? undefined : setTimeout(slice, 0);
    heard(done);
  };
  timer = setTimeout(slice, 0);
  return () => {
    clearTimeout(timer);
  };
}
