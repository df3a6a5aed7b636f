/** Which colour each prefix has in views of some computes: by first appearance among them. */
import { paletteColour } from '../lib/palette';
import type { RunWindow, Tables } from './tables';

export class PrefixColours {
  readonly #places = new Map<number, number>();

  constructor(
    private readonly tables: Tables,
    private readonly window: RunWindow,
    private readonly palette: () => readonly string[]
  ) {}

  /** Give colours to prefixes that are new; those that have one keep it. */
  refresh(): void {
    for (const row of this.tables.progressIn(this.window)) {
      this.#place(this.tables.prefixId(row.prefix));
    }
  }

  /** The colour of a prefix, by its number in the tables. */
  colour(prefix: number): string {
    return paletteColour(this.#place(prefix), this.palette());
  }

  #place(prefix: number): number {
    const known = this.#places.get(prefix);
    if (known !== undefined) {
      return known;
    }
    this.#places.set(prefix, this.#places.size);
    return this.#places.size - 1;
  }
}
