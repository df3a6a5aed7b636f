/** The answer to "what does this task need, and what needs it?". */
import { Field } from './check';
import type { Batch, PageStream } from './stream';
import { tableRows } from './schema';

/** As many of a kind as a live kernel tells; finished recordings tell no more. */
export const MAX_LINKS = 200;

/** The other end of a dependency; `row` is the recorder's, null where the task has not ended or is not held. */
export interface LinkRow {
  readonly row: number | null;
  readonly key: string;
}

/** A task's neighbours; the lists may be cut, the counts are of all. */
export interface LinkRows {
  readonly dependencies: readonly LinkRow[];
  readonly nDependencies: number;
  readonly dependents: readonly LinkRow[];
  readonly nDependents: number;
}

/** Returns null where the recorder does not hold the row any more. @throws WireError naming what is wrong. */
export function decodeLinks(data: unknown): LinkRows | null {
  return new Field(data, 'reply').at('links').orNull(links => ({
    dependencies: links.at('dependencies').list().map(decodeLink),
    nDependencies: links.at('n_dependencies').count(),
    dependents: links.at('dependents').list().map(decodeLink),
    nDependents: links.at('n_dependents').count()
  }));
}

function decodeLink(field: Field): LinkRow {
  const [row, key] = field.tuple(2) as [Field, Field];
  return { row: row.orNull(f => f.count()), key: key.text() };
}

/**
 * What tells what a row of these batches needs and what needs it, or null where there is no such row, or not all of its graph
 * is known; null where the batches have no dependencies.
 */
export function linksOf(batches: readonly Batch[], stream: PageStream): ((row: number) => LinkRows | null) | null {
  const [keyOf, rowOf, known] = [new Map<number, number>(), new Map<number, number>(), new Map<number, boolean>()];
  for (const { tables } of batches) {
    tableRows(tables, 'graphs').forEach(({ run, isKnown }) => known.set(run, isKnown === 1));
  }
  if (known.size === 0) {
    return null;
  }
  const note = ({ tables: { tasks: { first, n, columns: { key, run } } } }: Batch): void => {
    for (let i = 0; i < n; i += 1) {
      rowOf.set(key[i] as number, first + i);
      if (known.get(run[i] as number) === true) {
        keyOf.set(first + i, key[i] as number);
      }
    }
  };
  return row => {
    if (rowOf.size === 0) {
      batches.forEach(note);
    }
    const key = keyOf.get(row);
    if (key === undefined) {
      return null;
    }
    const [dependencies, dependents] = [new Array<number>(), new Array<number>()];
    for (const { tables: { dependencies: { columns: { key: needing, dependency: needed } } } } of batches) {
      for (let i = 0; i < needing.length; i += 1) {
        if (needing[i] === key) {
          dependencies.push(needed[i] as number);
        } else if (needed[i] === key) {
          dependents.push(needing[i] as number);
        }
      }
    }
    const ends = (keys: number[]): LinkRow[] => keys.sort((a, b) => a - b).slice(0, MAX_LINKS).map(other => ({ row: rowOf.get(other) ?? null, key: stream.keyText(other) }));
    return { dependencies: ends(dependencies), nDependencies: dependencies.length, dependents: ends(dependents), nDependents: dependents.length };
  };
}
