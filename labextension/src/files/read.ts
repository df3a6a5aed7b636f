/** A `.taskscope` file, complete or not, as the frames of a page that it is; whatever it holds, nothing of it is run. */
import { PageStream, WireError } from '../wire';
import type { Batch } from '../wire';
import { readHeader } from '../wire/codec';
import { Budget, type Frame, HEAD_BYTES, readFrame, unpack } from '../wire/frames';

/** A file that cannot be read: damaged, of another tool, of a newer version, or larger than it may be; completes "cannot show it: ". */
export class DamagedFileError extends Error {
  override readonly name: string = 'DamagedFileError';
}

/** A file that ends before its last part, as one does whose process was killed. */
class CutOffError extends DamagedFileError {
  override readonly name = 'CutOffError';
}

export interface ReadOptions {
  /** Take what stands before damage. */
  readonly partial?: boolean;
  /** Most bytes that it may unpack to, instead of what its size justifies. */
  readonly maxBytes?: number;
}

export interface FileRecording {
  /** ISO 8601, with a time zone. */
  readonly startedAt: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Why this is not all; null: it is. */
  readonly problem: string | null;
  /** Everything there is to show, in order. */
  readonly batches: readonly Batch[];
  /** The stream that they came in, which knows their keys. */
  readonly stream: PageStream;
}

/**
 * Return the recording in a file.
 *
 * A file that ends early is no error: `problem` says so. With `partial` neither is one that is damaged later on.
 *
 * Rejects with a DamagedFileError otherwise.
 */
export async function readRecording(file: Uint8Array, { partial = false, maxBytes }: ReadOptions = {}): Promise<FileRecording> {
  const budget = new Budget(file.length, maxBytes);
  const [stream, batches] = [new PageStream(), new Array<Batch>()];
  let startedAt: string | null = null;
  let problem: string | null = null;
  try {
    for await (const [frame, content] of contents(file, budget)) {
      startedAt ??= inFile(() => startOf(content));
      const batch = inFile(() => stream.frame(frame, content, budget));
      if (batch !== null && batch !== 'header') {
        batches.push(over(batch));
      }
    }
  } catch (error) {
    if (startedAt === null || !(error instanceof CutOffError || (partial && error instanceof DamagedFileError))) {
      throw error;
    }
    problem = `this file is not complete: ${error.message}; what follows after that is missing`;
  }
  return { startedAt: startedAt ?? '', metadata: metadataOf(batches), problem, batches, stream };
}

/** Have what a decoder complains about be damage of the file. */
export function inFile<T>(read: () => T, problem = 'it contradicts itself'): T {
  try {
    return read();
  } catch (error) {
    throw damage(error, problem);
  }
}

/** A batch of a computation that does not go on now, even where it did when the file was written. */
function over(batch: Batch): Batch {
  const { tables, tables: { state } } = batch;
  return { ...batch, tables: { ...tables, state: { ...state, columns: { ...state.columns, active: Int32Array.of(0) } } } };
}

/** 95 years: whatever is computed of times is finite then. */
const MAX_S = 3e9;

function startOf(header: Uint8Array): string {
  const { said, zeroS } = readHeader(header);
  const startedAt = said.at('started_at').text();
  if (!(/(?:Z|[+-]\d\d:\d\d)$/.test(startedAt) && !Number.isNaN(Date.parse(startedAt)))) {
    throw new DamagedFileError(`it does not say when it was recorded: ${startedAt}`);
  }
  return Math.abs(zeroS) < MAX_S ? startedAt : said.at('zero_s').fail('a number of seconds');
}

const MAGIC = [0x89, 0x54, 0x53, 0x4b];

/** All frames with their contents, in order, up to the last one; nothing is yielded that was not checked. */
async function* contents(file: Uint8Array, budget: Budget): AsyncGenerator<[Frame, Uint8Array]> {
  if (file.length === 0 || MAGIC.some((byte, i) => i < file.length && file[i] !== byte)) {
    throw new DamagedFileError('it is not a recording of taskscope');
  }
  let [at, stream, isLast] = [0, 0, false];
  for (let number = 0; !isLast; number += 1) {
    const frame = frameAt(file, at, number);
    if (frame.number !== number || (number > 0 && frame.stream !== stream) || (frame.kind === 'header') !== (number === 0)) {
      throw new DamagedFileError(`part ${number + 1} is out of place`);
    }
    yield [frame, await unpack(frame, budget).catch((error: unknown) => { throw damage(error, `part ${number + 1} cannot be read`); })];
    [at, stream, isLast] = [frame.end, frame.stream, frame.kind === 'end'];
  }
  if (at < file.length) {
    throw new DamagedFileError('there is something after its end');
  }
}

function frameAt(file: Uint8Array, at: number, number: number): Frame {
  const part = `part ${number + 1}`;
  const frame = inFile(() => readFrame(file, at), `${part} cannot be read`);
  if (frame === null) {
    throw new CutOffError(file.length - at < HEAD_BYTES ? `it ends before ${part} is complete` : `it ends within ${part}`);
  }
  return frame;
}

function damage(error: unknown, problem: string): unknown {
  return error instanceof WireError ? new DamagedFileError(`${problem}: ${error.message}`) : error;
}

/** Python writes numbers that are none where it may; strings are matched only to be left alone. */
const NOT_JSON = /"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|Infinity)\b)/g;

function metadataOf(batches: readonly Batch[]): Readonly<Record<string, unknown>> {
  const text = batches.flatMap(({ tables }) => tables.metadata.columns.text).join('');
  let value: unknown = {};
  try {
    value = text === '' ? {} : JSON.parse(text.replace(NOT_JSON, (found, constant: string | undefined) => (constant === undefined ? found : 'null')));
  } catch (error) {
    throw new DamagedFileError(`its metadata are no JSON: ${String(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DamagedFileError('metadata must be an object');
  }
  return value as Record<string, unknown>;
}
