/** What a scene measures of the store. */
import type { Look, Sight, TaskStore } from '../../store';
import type { Scene } from './model';

/** All of a scene's span, in `columns` parts. */
export function lookOf(store: TaskStore, { span, runs, nowS, held }: Scene, sight: Sight, columns: number): Look {
  return { span, columns, runs, sight, nowS, untilS: held ? nowS : Infinity, nPrefixes: store.tables.prefixes.length };
}
