/** Why tasks failed: the text of each one, and how often each text came, kept even when its rows are gone. */
import { lowerBound } from '../../lib/search';
import type { TaskStatus } from '../../wire';
import { columnTable } from '../columns';
import type { RunRange } from '../tables';
import { inRunRange } from '../tables';

/** A task that did not finish. */
export interface FailedTask {
  /** Row of the store. */
  readonly row: number;
  readonly lane: number;
  readonly startS: number;
  readonly key: string;
}

/** All tasks of a prefix that ended alike. */
export interface FailureKind {
  readonly prefix: string;
  readonly status: Exclude<TaskStatus, 'finished'>;
  /** Type and message; null: nobody knows. */
  readonly error: string | null;
  readonly n: number;
  /** The first one that was recorded. */
  readonly first: FailedTask;
}

/** More different texts than this are no longer told apart. */
const MAX_TEXTS = 10_000;
const FURTHER = `(more than ${MAX_TEXTS.toLocaleString('en')} different errors)`;

const FailureTable = columnTable({ row: Uint32Array, text: Uint16Array });

export class Failures {
  readonly #rows = new FailureTable();
  readonly #texts: (string | null)[] = [];
  readonly #places = new Map<string | null, number>();
  readonly #kinds = new Map<number, Map<string, FailureKind>>();

  /** Note a task of a compute; rows come in ascending order. */
  add(run: number, kind: Omit<FailureKind, 'n' | 'first'>, row: number, first: () => FailedTask): void {
    const text = this.#place(kind.error);
    this.#rows.add({ row: [row], text: [text] }, 0, 1);
    const ofRun = this.#kinds.get(run) ?? new Map<string, FailureKind>();
    this.#kinds.set(run, ofRun);
    const name = nameOf(kind.prefix, kind.status, text);
    const known = ofRun.get(name);
    const error = this.#texts[text] ?? null;
    ofRun.set(name, known === undefined ? { ...kind, error, n: 1, first: first() } : { ...known, n: known.n + 1 });
  }

  /** Forget the tasks of rows before `row`; what was counted stays. */
  drop(row: number): void {
    this.#rows.dropFirst(lowerBound(this.#rows.row, this.#rows.n, row));
  }

  /** Forget all about a compute. */
  dropRun(run: number): void {
    this.#kinds.delete(run);
  }

  /** What a task raised, type and message; null where nobody knows, or it did not fail. */
  error(row: number): string | null {
    const { row: rows, text, n } = this.#rows;
    const i = lowerBound(rows, n, row);
    return i < n && rows[i] === row ? (this.#texts[text[i] as number] ?? null) : null;
  }

  /** The failures of these computes but for some, by first appearance. */
  in(runRange: RunRange, except: ReadonlySet<number> = new Set()): FailureKind[] {
    const kinds = new Map<string, FailureKind>();
    for (const [run, ofRun] of this.#kinds) {
      for (const [name, kind] of inRunRange(run, runRange) && !except.has(run) ? ofRun : []) {
        const known = kinds.get(name) ?? { ...kind, n: 0 };
        const first = kind.first.row < known.first.row ? kind.first : known.first;
        kinds.set(name, { ...known, n: known.n + kind.n, first });
      }
    }
    return [...kinds.values()].sort((a, b) => a.first.row - b.first.row);
  }

  #place(error: string | null): number {
    const text = this.#places.has(error) || this.#texts.length < MAX_TEXTS ? error : FURTHER;
    const known = this.#places.get(text);
    if (known !== undefined) {
      return known;
    }
    this.#places.set(text, this.#texts.length);
    return this.#texts.push(text) - 1;
  }
}

function nameOf(prefix: string, status: string, text: number): string {
  return `${text} ${status} ${prefix}`;
}
