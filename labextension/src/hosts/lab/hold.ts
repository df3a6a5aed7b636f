/** Counts who uses a thing that is there for as long as somebody does. */

export interface Held {
  holds: number;
}

/** Count one use more; the function returned ends it, once, and calls `released` each time. */
export function hold(held: Held, released: () => void): () => void {
  let isHeld = true;
  held.holds++;
  return () => {
    held.holds -= isHeld ? 1 : 0;
    isHeld = false;
    released();
  };
}
