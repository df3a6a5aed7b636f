/** What selected tasks need and what needs them: asked for when somebody wants to know, kept for a while. */
import type { LinkRows } from '../../wire';
import type { TaskRef } from './selection';

/** The other end of a dependency; `place` null: it has not ended, is not held or is data. */
export interface LinkEnd {
  readonly key: string;
  readonly place: TaskRef | null;
}

export type Links =
  /** Nobody can be asked, or nobody knows. */
  | { readonly kind: 'unknown' }
  /** A kernel that hears us only between cells answers later; `isLate`: it has not for some seconds. */
  | { readonly kind: 'asked'; readonly isLate: boolean }
  | {
      readonly kind: 'known';
      /** In the graph's order; cut where there are too many to show. */
      readonly dependencies: readonly LinkEnd[];
      readonly nDependencies: number;
      readonly dependents: readonly LinkEnd[];
      readonly nDependents: number;
    };

/** Requests the links of a row by the recorder's number, null where it is not held; null where there is no kernel that could answer. */
export type AskLinks = (row: number) => Promise<LinkRows | null> | null;

/** What the table needs of the store around it. */
export interface LinkSurroundings {
  readonly ask: AskLinks;
  readonly nowMs: () => number;
  /** Called when something else is known, or an answer has become late. */
  readonly changed: () => void;
  /** How many rows there were, of all that the recorder ever had. */
  readonly nRows: () => number;
  numberOf(row: number): number;
  /** Where the tasks with these numbers of the recorder are, as far as they are here. */
  placesOf(numbers: readonly number[]): ReadonlyMap<number, TaskRef>;
}

interface Entry {
  readonly links: Links;
  /** How many rows there were, where some end had no place among them; null: all had. */
  readonly openAt: number | null;
  readonly answeredMs: number;
}

const MAX_KEPT = 64;
/** Ends without a place are requested again once rows came: they may have ended. No more often than this. */
const AGAIN_MS = 2_000;
/** An idle kernel answers at once; after this time somebody should be told why nothing comes. */
export const LATE_MS = 3_000;

export class LinkTable {
  readonly #entries = new Map<number, Entry>();
  readonly #asked = new Map<number, Links>();

  constructor(private readonly around: LinkSurroundings) {}

  /** The links of a row; asks for them where they are not known. */
  of(row: number): Links {
    const number = this.around.numberOf(row);
    const known = this.#entries.get(number);
    const isOpen = (known?.openAt ?? null) !== null && known?.openAt !== this.around.nRows();
    const isStale = isOpen && this.around.nowMs() - (known?.answeredMs ?? 0) >= AGAIN_MS;
    if ((known === undefined || isStale) && !this.#asked.has(number)) {
      const answer = this.around.ask(number);
      if (answer !== null) {
        void this.#take(number, answer);
      }
    }
    return known?.links ?? this.#asked.get(number) ?? { kind: 'unknown' };
  }

  async #take(number: number, answer: Promise<LinkRows | null>): Promise<void> {
    this.#asked.set(number, { kind: 'asked', isLate: false });
    const timer = setTimeout(() => {
      this.#asked.set(number, { kind: 'asked', isLate: true });
      this.around.changed();
    }, LATE_MS);
    const before = this.#entries.get(number)?.links;
    const entry = await answer.then(rows => this.#entry(rows), (): Entry => ({ links: { kind: 'unknown' }, openAt: -1, answeredMs: this.around.nowMs() }));
    clearTimeout(timer);
    this.#asked.delete(number);
    this.#entries.delete(number);
    const isSame = JSON.stringify(before) === JSON.stringify(entry.links);
    this.#entries.set(number, isSame && before !== undefined ? { ...entry, links: before } : entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_KEPT && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
    if (!isSame) {
      this.around.changed();
    }
  }

  #entry(rows: LinkRows | null): Entry {
    const answeredMs = this.around.nowMs();
    if (rows === null) {
      return { links: { kind: 'unknown' }, openAt: null, answeredMs };
    }
    const ends = [...rows.dependencies, ...rows.dependents];
    const places = this.around.placesOf(ends.flatMap(end => end.row ?? []));
    const linkOf = ({ row, key }: LinkRows['dependents'][number]): LinkEnd => ({
      key, place: row === null ? null : (places.get(row) ?? null)
    });
    const links: Links = {
      kind: 'known',
      dependencies: rows.dependencies.map(linkOf),
      nDependencies: rows.nDependencies,
      dependents: rows.dependents.map(linkOf),
      nDependents: rows.nDependents
    };
    const isOpen = [...links.dependencies, ...links.dependents].some(link => link.place === null);
    return { links, openAt: isOpen ? this.around.nRows() : null, answeredMs };
  }
}
