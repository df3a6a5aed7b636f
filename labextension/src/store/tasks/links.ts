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

/** Asks for the links of a row, by the recorder's number; false if there is nobody to ask. */
export type AskLinks = (row: number) => boolean;

/** What the table needs of the store around it. */
export interface LinkSurroundings {
  readonly ask: AskLinks;
  readonly nowMs: () => number;
  /** Called when an answer has become late. */
  readonly onLate: () => void;
  numberOf(row: number): number;
  /** Where the tasks with these numbers of the recorder are, as far as they are here. */
  placesOf(numbers: readonly number[]): ReadonlyMap<number, TaskRef>;
}

interface Entry {
  links: Links;
  /** Whether some end had no place yet. */
  open: boolean;
  answeredMs: number;
}

const MAX_KEPT = 64;
/** Ends without a place are asked for again, because they may have ended since. */
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
    const isStale = known?.open === true && this.around.nowMs() - known.answeredMs >= AGAIN_MS;
    if ((known === undefined || isStale) && !this.#asked.has(number) && this.around.ask(number)) {
      this.#wait(number);
    }
    return known?.links ?? this.#asked.get(number) ?? { kind: 'unknown' };
  }

  answer(number: number, rows: LinkRows | null): void {
    this.#asked.delete(number);
    this.#entries.delete(number);
    this.#entries.set(number, this.#entry(rows));
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_KEPT && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
  }

  /** Answers to what was asked will not come. */
  forgetAsked(): void {
    this.#asked.clear();
  }

  #wait(number: number): void {
    const asked: Links = { kind: 'asked', isLate: false };
    this.#asked.set(number, asked);
    setTimeout(() => {
      if (this.#asked.get(number) === asked) {
        this.#asked.set(number, { kind: 'asked', isLate: true });
        this.around.onLate();
      }
    }, LATE_MS);
  }

  #entry(rows: LinkRows | null): Entry {
    const answeredMs = this.around.nowMs();
    if (rows === null) {
      return { links: { kind: 'unknown' }, open: false, answeredMs };
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
    return { links, open: [...links.dependencies, ...links.dependents].some(link => link.place === null), answeredMs };
  }
}
