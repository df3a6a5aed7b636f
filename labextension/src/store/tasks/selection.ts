/** The task that a person looks at, shared by all views of a recorder. */

/** One ended task, by its row in the store, which does not change when others come. */
export interface TaskRef {
  readonly lane: number;
  readonly row: number;
  readonly startS: number;
}

export interface Selected {
  readonly key: string;
  /** Where it is; null while it is in flight, and for a key that is not here. */
  readonly ref: TaskRef | null;
}

/** @param teller who changed it, so that nobody answers himself */
type Listener = (selected: Selected | null, teller: unknown) => void;

export class Selection {
  #current: Selected | null = null;
  readonly #listeners = new Set<Listener>();

  get current(): Selected | null {
    return this.#current;
  }

  /** Select a task, or nothing. A place that became known is news, the same selection again is not. */
  select(selected: Selected | null, teller: unknown): void {
    const before = this.#current;
    if (before?.key === selected?.key && before?.ref?.row === selected?.ref?.row) {
      return;
    }
    this.#current = selected;
    for (const listener of [...this.#listeners]) {
      listener(selected, teller);
    }
  }

  /** Tell `listener` of every change until `signal` aborts. */
  subscribe(listener: Listener, signal: AbortSignal): void {
    if (signal.aborted) {
      return;
    }
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }
}
