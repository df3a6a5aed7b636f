/** Counts the event listeners that are still attached, wherever they were attached to. */
import { vi } from 'vitest';

/**
 * Count listeners added from now on. Those of an AbortSignal die with it; those without a signal, which preact adds, go
 * with their element once that has left the page.
 */
export function countListeners(): { readonly alive: () => number } {
  const alive = new Set<{ readonly target: EventTarget; readonly signalled: boolean }>();
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
    const listener = { target: this, signalled: signal !== undefined };
    alive.add(listener);
    signal?.addEventListener('abort', () => alive.delete(listener));
  });
  return { alive: () => [...alive].filter(({ target, signalled }) => signalled || !(target instanceof Element) || target.isConnected).length };
}
