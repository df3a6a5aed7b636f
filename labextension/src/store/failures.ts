/** Why tasks failed: the text of each one, and how often each text came, kept even when its rows are gone. */
import { lowerBound } from '../lib/search';
import type { TaskStatus } from '../wire';
import { roomFor, withoutFirst } from './columns';
import type { RunWindow } from './tables';
import { inWindow } from './tables';

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

export class Failures {
  #n = 0;
  #row = new Uint32Array(0);
  #text = new Uint16Array(0);
  readonly #texts: (string | null)[] = [];
  readonly #places = new Map<string | null, number>();
  readonly #kinds = new Map<number, Map<string, FailureKind>>();

  /** Note a task of a compute; rows come in ascending order. */
  add(run: number, kind: Omit<FailureKind, 'n' | 'first'>, row: number, first: () => FailedTask): void {
    const text = this.#place(kind.error);
    this.#row = roomFor(this.#row, this.#n + 1);
    this.#text = roomFor(this.#text, this.#n + 1);
    this.#row[this.#n] = row;
    this.#text[this.#n] = text;
    this.#n += 1;
    const ofRun = this.#kinds.get(run) ?? new Map<string, FailureKind>();
    this.#kinds.set(run, ofRun);
    const name = nameOf(kind.prefix, kind.status, text);
    const known = ofRun.get(name);
    const error = this.#texts[text] ?? null;
    ofRun.set(name, known === undefined ? { ...kind, error, n: 1, first: first() } : { ...known, n: known.n + 1 });
  }

  /** Forget the tasks of rows before `row`; what was counted stays. */
  drop(row: number): void {
    const count = lowerBound(this.#row, this.#n, row);
    this.#row = withoutFirst(this.#row, count, this.#n);
    this.#text = withoutFirst(this.#text, count, this.#n);
    this.#n -= count;
  }

  /** Forget all about a compute. */
  dropRun(run: number): void {
    this.#kinds.delete(run);
  }

  /** What a task raised, type and message; null where nobody knows, or it did not fail. */
  error(row: number): string | null {
    const i = lowerBound(this.#row, this.#n, row);
    return i < this.#n && this.#row[i] === row ? (this.#texts[this.#text[i] as number] ?? null) : null;
  }

  /** The failures of the computes in a window but some, by first appearance. */
  in(window: RunWindow, except: ReadonlySet<number> = new Set()): FailureKind[] {
    const kinds = new Map<string, FailureKind>();
    for (const [run, ofRun] of this.#kinds) {
      for (const [name, kind] of inWindow(run, window) && !except.has(run) ? ofRun : []) {
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
