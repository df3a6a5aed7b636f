/** Which prefixes a person has hidden, and which one stands out. */
import type { PrefixFilter } from './scene';

/** What knows prefixes by their number. */
interface PrefixNames {
  readonly prefixes: readonly string[];
  prefixId(prefix: string): number;
}

export class Emphasis {
  readonly #hidden: Set<string>;
  #focus: string | null = null;
  #version = 0;

  /**
   * @param changed is called when something has to be painted anew
   * @param hidden at first
   */
  constructor(
    private readonly changed: () => void,
    hidden: readonly string[] = []
  ) {
    this.#hidden = new Set(hidden);
  }

  /** Grows when other prefixes are hidden. */
  get version(): number {
    return this.#version;
  }

  get focused(): string | null {
    return this.#focus;
  }

  get nHidden(): number {
    return this.#hidden.size;
  }

  get hidden(): readonly string[] {
    return [...this.#hidden];
  }

  isHidden(prefix: string): boolean {
    return this.#hidden.has(prefix);
  }

  toggle(prefix: string): void {
    if (!this.#hidden.delete(prefix)) {
      this.#hidden.add(prefix);
    }
    this.#version += 1;
    this.changed();
  }

  showAll(): void {
    this.#hidden.clear();
    this.#version += 1;
    this.changed();
  }

  /** Have one prefix stand out; null: all alike. */
  focus(prefix: string | null): void {
    if (prefix !== this.#focus) {
      this.#focus = prefix;
      this.changed();
    }
  }

  /** The same by the numbers of a recorder's tables. */
  filter(names: PrefixNames): PrefixFilter {
    const focus = this.#focus === null || this.#hidden.has(this.#focus) ? -1 : names.prefixId(this.#focus);
    if (this.#hidden.size === 0) {
      return { hidden: null, focus };
    }
    const hidden = new Uint8Array(names.prefixes.length);
    for (const prefix of this.#hidden) {
      hidden[names.prefixId(prefix)] = 1;
    }
    return { hidden, focus };
  }
}
