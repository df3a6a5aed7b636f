/** The cases that Python reads, too; `python -m tests.support.files.cases` writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { DamagedFileError } from '../../src/files/read';
import { readRecording } from '../../src/files/recording';

interface Cases {
  readonly whole: string;
  readonly cut: string;
  readonly refused: Readonly<Record<string, readonly [file: string, reason: string]>>;
}

/** What the decoder says in words of its own. */
const OWN: Readonly<Record<string, RegExp>> = {
  'key must be known': /tasks\.key\[0\] must be from 0 to less than 3, got 99$/,
  'lane must be known': /tasks\.lane\[0\] must be from 0 to less than 2, got 9$/,
  'status must be known': /tasks\.status\[0\] must be from 0 to less than 5, got 5$/,
  'error must be known': /tasks\.error\[1\] must be from 0 to less than 1, got 7$/,
  'group must be known': /keys\.group\[0\] must be from 0 to less than 3, got 77$/,
  'duration_s must not be less than 0': /tasks\.duration_s\[0\] must be from 0 to less than 10000000000, got -1$/,
  'rows come twice': /must be a row of tasks after those before/,
  'tasks lacks status': /must be a column status of tasks/
};

const cases = JSON.parse(readFileSync(join(import.meta.dirname, '../cases/files.json'), 'utf8')) as Cases;
const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));

it('a whole file is one, and of one that was cut off its tasks are there', async () => {
  const [whole, cut] = await Promise.all([cases.whole, cases.cut].map(file => readRecording(bytesOf(file))));
  expect([whole?.problem, whole?.batch.tables.tasks.n]).toEqual([null, 3]);
  const early = 'this file is not complete: it ends before part 4 is complete; what follows after that is missing';
  expect([cut?.problem, cut?.batch.tables.tasks.n]).toEqual([early, 5]);
});

describe('is refused', () => {
  it.each(Object.entries(cases.refused))('%s', async (_, [file, reason]) => {
    await expect(readRecording(bytesOf(file))).rejects.toBeInstanceOf(DamagedFileError);
    await expect(readRecording(bytesOf(file))).rejects.toThrow(OWN[reason] ?? reason);
  });
});
