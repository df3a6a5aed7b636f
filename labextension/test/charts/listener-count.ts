/** Counts the event listeners that are still attached, wherever they were attached to. */
import { vi } from 'vitest';

/** Count listeners added from now on; those of an AbortSignal itself die with it and do not count. */
export function countListeners(): { readonly alive: () => number } {
  let alive = 0;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its own target below
  const add = EventTarget.prototype.addEventListener;
  vi.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(function (
    this: EventTarget,
    ...args: Parameters<EventTarget['addEventListener']>
  ) {
    add.apply(this, args);
    const options = args[2];
    const signal = typeof options === 'object' ? options.signal : undefined;
    if (this instanceof AbortSignal || signal?.aborted === true) {
      return;
    }
    alive += 1;
    signal?.addEventListener('abort', () => (alive -= 1));
  });
  return { alive: () => alive };
}
