import { describe, expect, it } from 'vitest';

import { DamagedFileError, batchOf, readRecording } from '../../src/files';
import { MAX_FRAME_BYTES, VERSION } from '../../src/files/frames';
import { TaskStore } from '../../src/store';
import { HEAD, LAST, type Written, fileOf, json } from './container';
import { documentOf } from './documents';

/** The keys of a file's tasks in order, or why it cannot be read; whatever else is thrown fails the test. */
async function keysOrError(file: Uint8Array<ArrayBuffer>): Promise<readonly string[] | string> {
  try {
    const recording = await readRecording(file);
    const batch = batchOf(recording);
    const store = new TaskStore();
    store.append(batch);
    return batch.tasks.lane.length === 0
      ? []
      : Array.from(batch.tasks.group, (group, row) => store.keyText(row, group));
  } catch (error) {
    if (error instanceof DamagedFileError) {
      return error.message;
    }
    throw error;
  }
}

/** Hundreds of files, on a machine that may be busy. */
const SLOW_MS = 120_000;

// Every byte and many more flips are looked at in Python; here it is whether both say the same.
it.each(['v1-killed', 'v2-killed'])('%s cut off anywhere is a prefix of it, or an error', async name => {
  const file = documentOf(name);
  const all = await keysOrError(file);
  let nRead = 0;
  for (let length = 0; length < file.length; length += 11) {
    const found = await keysOrError(file.slice(0, length));
    if (typeof found !== 'string') {
      expect(all.slice(0, found.length)).toEqual(found);
      nRead += 1;
    }
  }
  expect(nRead).toBeGreaterThan(50);
}, SLOW_MS);

it('a file with a bit flipped anywhere is an error', async () => {
  const file = documentOf('v1-whole');
  for (let place = 0; place < file.length; place += 11) {
    file[place] = (file[place] ?? 0) ^ (1 << place % 8);
    expect(typeof await keysOrError(file), `byte ${place}`).toBe('string');
    file[place] = (file[place] ?? 0) ^ (1 << place % 8);
  }
}, SLOW_MS);

it('shows what stands before damage where that is asked for, and says so', async () => {
  const file = documentOf('odd');
  file[file.length - 1] = (file.at(-1) ?? 0) ^ 1;
  await expect(readRecording(file)).rejects.toThrow(/^part \d+ is damaged$/);
  const { blocks, problem, remarks } = await readRecording(file, { partial: true });
  expect(blocks.reduce((n, block) => n + block.task.length, 0)).toBe(4);
  expect(problem).toMatch(
    /^this file is not complete: part \d+ is damaged; what follows after that is missing; unknown in part or whole: activities, stacks, transfers, workers$/
  );
  expect(remarks.at(-1)?.text).toBe(problem);
});

describe('says what is wrong with', () => {
  const bomb: Written = { kind: 'RECS', content: new Uint8Array(80 * 2 ** 20) };
  const rows = (table: string, ...values: unknown[]): Written => json('RECS', { table, rows: values });
  const cases: [string, Uint8Array<ArrayBuffer>, RegExp][] = [
    ['an empty file', new Uint8Array(), /^it is not a recording of taskscope$/],
    ['a file of another tool', new TextEncoder().encode('<!DOCTYPE html>'), /^it is not a recording/],
    ['a newer file', fileOf([HEAD, LAST], VERSION + 1), /^it has version \d+.0 of the format and this taskscope reads up to/],
    ['a frame that claims too much', fileOf([HEAD, bomb, LAST]), new RegExp(`claims 83,886,080 bytes, more than ${MAX_FRAME_BYTES.toLocaleString('en')}`)],
    ['a frame that holds more than it claims', fileOf([HEAD, { ...bomb, claims: 1000 }, LAST]), /^part 2 does not unpack to the 1,000 bytes/],
    ['a frame that holds less than it claims', fileOf([HEAD, { ...LAST, claims: 1000 }]), /^part 2 does not unpack to the 1,000 bytes/],
    ['something after the end', new Uint8Array([...fileOf([HEAD, LAST]), 0]), /^there is something after its end$/],
    ['no head', fileOf([LAST]), /a file begins with its head/],
    ['a column nobody knows', fileOf([HEAD, packed('SMPL', { columns: [['__proto__', '<f8', 0]] }), LAST]), /a column "__proto__" of type "<f8" is not known/],
    ['a column that is too short', fileOf([HEAD, packed('SMPL', { columns: [['time', '<f8', 9]] }), LAST]), /the column "time" is shorter than it says/],
    ['a group out of place', fileOf([HEAD, rows('groups', { id: 3, name: 'a', prefix: 'a' }), LAST]), /groups must be numbered by place/],
    ['a field too few', fileOf([HEAD, rows('groups', { id: 0, name: 'a' }), LAST]), /rows\[0\].prefix must be a string, got undefined/],
    ['a level nobody knows', fileOf([HEAD, rows('messages', { time_s: 1, level: 'evil', text: 'x' }), LAST]), /must be one of info, warning/],
    ['no JSON', fileOf([HEAD, { kind: 'RECS', content: Buffer.from('{') }, LAST]), /it holds no JSON where it should/],
    ['a time beyond all time', fileOf([HEAD, rows('messages', { time_s: 1e300, level: 'info', text: 'x' }), LAST]), /a time must be possible/]
  ];
  it.each(cases)('%s', async (_, file, message) => {
    await expect(readRecording(file)).rejects.toThrow(message);
    await expect(readRecording(file)).rejects.toBeInstanceOf(DamagedFileError);
  });
});

it('leaves out what only others look at', async () => {
  const rest = [json('STCK', {}), json('RECS', { table: 'functions', rows: [{ name: 'f', file: 'f.py', line: 1 }] })];
  const { runs, problem } = await readRecording(fileOf([HEAD, ...rest, LAST]));
  expect([runs, problem]).toEqual([[], null]);
});

it('unpacks nothing beyond what all frames together may take', async () => {
  const file = fileOf([HEAD, ...Array.from({ length: 8 }, () => ({ kind: 'NONE', content: new Uint8Array(100) }))]);
  await expect(readRecording(file, { maxBytes: 50 })).rejects.toThrow('it unpacks to more than 50 bytes');
});

it('takes numbers that are none for unknown, as Python writes them', async () => {
  const content = Buffer.from('{"table":"messages","rows":[{"time_s":1.5,"level":"info","text":"NaN \\"Infinity"}],"x":[NaN,-Infinity]}');
  const { remarks } = await readRecording(fileOf([HEAD, { kind: 'RECS', content }, LAST]));
  expect(remarks).toEqual([{ timeS: 1.5, level: 'info', text: 'NaN "Infinity' }]);
});

function packed(kind: string, head: unknown): Written {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return { kind, content: Buffer.concat([length, text]) };
}
