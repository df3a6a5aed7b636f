/** Files of recordings, and the stores of a viewer that shows them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { readRecording } from '../../src/files/read';
import { storeOf } from '../../src/hosts/lab/documents/show';
import type { TaskStore } from '../../src/store';
import type { PageTables } from '../../src/wire';

const FIXTURES = join(import.meta.dirname, '../../../tests/fixtures');

export function documentOf(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(FIXTURES, name.startsWith('v1-') ? 'files' : 'documents', `${name}.taskscope`)));
}

/** The store of a file, of whose batches these tables are others. */
export async function documentStore(name: string, changed: Partial<PageTables> = {}): Promise<TaskStore> {
  const { batches, ...recording } = await readRecording(documentOf(name));
  return storeOf({ ...recording, batches: batches.map(batch => ({ ...batch, tables: { ...batch.tables, ...changed } })) });
}
