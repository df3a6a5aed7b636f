/** Things that are there for as long as somebody uses them: one by key, and how many use it. */

/** A use of a thing, which `release` ends, once. */
export interface Use<V> {
  readonly value: V;
  readonly release: () => void;
}

interface Entry<V> {
  readonly value: V;
  nUsers: number;
}

export class SharedMap<K, V> {
  /**
   * @param mayGo tells whether what nobody uses is to be forgotten
   * @param gone is called with what was forgotten
   */
  constructor(
    private readonly _mayGo: (value: V, key: K) => boolean,
    private readonly _gone: (value: V) => void = () => undefined
  ) {}

  get(key: K): V | undefined {
    return this._entries.get(key)?.value;
  }

  /** The same, made if it is not there; it stays until a `sweep` finds that it may go. */
  open(key: K, make: () => V): V {
    return this._entry(key, make).value;
  }

  /** Use it, made if it is not there. */
  use(key: K, make: () => V): Use<V> {
    const entry = this._entry(key, make);
    let isUsed = true;
    entry.nUsers += 1;
    const release = (): void => {
      entry.nUsers -= isUsed ? 1 : 0;
      isUsed = false;
      this.sweep();
    };
    return { value: entry.value, release };
  }

  values(): V[] {
    return Array.from(this._entries.values(), ({ value }) => value);
  }

  /** Forget what nobody uses, as far as it may go. */
  sweep(): void {
    for (const [key, { value, nUsers }] of [...this._entries]) {
      if (nUsers === 0 && this._mayGo(value, key)) {
        this._entries.delete(key);
        this._gone(value);
      }
    }
  }

  /** Forget everything, used or not. */
  clear(): void {
    const values = this.values();
    this._entries.clear();
    values.forEach(this._gone);
  }

  private _entry(key: K, make: () => V): Entry<V> {
    let entry = this._entries.get(key);
    if (entry === undefined) {
      entry = { value: make(), nUsers: 0 };
      this._entries.set(key, entry);
    }
    return entry;
  }

  private readonly _entries = new Map<K, Entry<V>>();
}
