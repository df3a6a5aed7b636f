/** Remembers the values that something was made of, so that it is made anew only where one of them is another one. */
export class Seen {
  #values: readonly unknown[] | null = null;

  /** Whether these are other values than those of the last call. */
  isNew(...values: readonly unknown[]): boolean {
    const before = this.#values;
    this.#values = values;
    return before?.length !== values.length || values.some((value, i) => !Object.is(value, before[i]));
  }

  forget(): void {
    this.#values = null;
  }
}
