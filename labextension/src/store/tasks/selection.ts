/** The task that a person looks at, shared by all views of a recorder. */
import { Listeners } from '../../lib/listeners';

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

export class Selection {
  #current: Selected | null = null;
  readonly #listeners = new Listeners<[selected: Selected | null, teller: unknown]>();

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
    this.#listeners.call(selected, teller);
  }

  /** Call `listener` with every change, and with the object that made it, until `signal` aborts. */
  subscribe(listener: (selected: Selected | null, teller: unknown) => void, signal: AbortSignal): void {
    this.#listeners.add(listener, signal);
  }
}
