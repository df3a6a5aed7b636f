/** Functions that are called with each change, until their signals abort. */

export class Listeners<Args extends unknown[] = []> {
  readonly #all = new Set<(...args: Args) => void>();

  get size(): number {
    return this.#all.size;
  }

  add(listener: (...args: Args) => void, signal: AbortSignal): void {
    if (!signal.aborted) {
      this.#all.add(listener);
      signal.addEventListener('abort', () => this.#all.delete(listener), { once: true });
    }
  }

  call(...args: Args): void {
    for (const listener of [...this.#all]) {
      listener(...args);
    }
  }
}
