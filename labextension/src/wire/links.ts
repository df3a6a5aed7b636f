/** The answer to "what does this task need, and what needs it?". */
import { Field } from './check';

/** As many of a kind as a live kernel tells; files and reports tell no more. */
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

/** `links` null: the recorder does not hold the row any more. */
export interface LinksAnswer {
  readonly row: number;
  readonly links: LinkRows | null;
}

/** @throws WireError naming what is wrong. */
export function decodeLinks(data: unknown): LinksAnswer {
  const reply = new Field(data, 'reply');
  return {
    row: reply.at('row').count(),
    links: reply.at('links').orNull(links => ({
      dependencies: links.at('dependencies').list().map(decodeLink),
      nDependencies: links.at('n_dependencies').count(),
      dependents: links.at('dependents').list().map(decodeLink),
      nDependents: links.at('n_dependents').count()
    }))
  };
}

function decodeLink(field: Field): LinkRow {
  const [row, key] = field.tuple(2) as [Field, Field];
  return { row: row.orNull(f => f.count()), key: key.text() };
}
