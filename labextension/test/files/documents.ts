/** Files of recordings, with what Python makes of each. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { type Batch, PageStream } from '../../src/wire';

const FIXTURES = join(import.meta.dirname, '../../../tests/fixtures');
const FOLDERS = ['documents', 'files'].map(name => join(FIXTURES, name));

/** The bytes of each file, by name. */
export const DOCUMENTS: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = new Map(
  FOLDERS.flatMap(folder => readdirSync(folder).filter(name => name.endsWith('.taskscope')).map(name => [
    name.replace('.taskscope', ''), new Uint8Array(readFileSync(join(folder, name)))
  ]))
);

export function documentOf(name: string): Uint8Array<ArrayBuffer> {
  const found = DOCUMENTS.get(name);
  if (found === undefined) {
    throw new Error(`there is no file ${name}`);
  }
  return found.slice();
}

/** The messages that Python makes of a file. */
export function messagesOf(name: string): Batch[] {
  const text = readFileSync(join(FIXTURES, 'documents', `${name}.messages.json`), 'utf8');
  const messages = JSON.parse(text) as { message: unknown; buffers: string[] }[];
  const stream = new PageStream();
  return messages.flatMap(({ message, buffers }) =>
    stream.take(message, buffers.map(buffer => new Uint8Array(Buffer.from(buffer, 'base64')))) ?? []
  );
}
