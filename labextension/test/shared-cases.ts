/** Cases that Python and TypeScript are both held to: whoever changes one side has to change the other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a file of cases holds, without what it says of itself. */
export function sharedCases(name: string): unknown {
  const text = readFileSync(join(import.meta.dirname, 'cases', `${name}.json`), 'utf8');
  return JSON.parse(text, (key: string, value: unknown) => (key === 'about' ? undefined : value));
}
