/** The tables of a `.taskscope` file, complete or not; whatever it holds, nothing of it is run. */
import type { Numbers, Sections } from '../wire/codec';
import { BatchReader, readHeader } from '../wire/codec';
import { Budget, type Frame, HEAD_BYTES, crc32, readFrame, unpack } from '../wire/frames';
import { type Field, WireError } from '../wire/check';
import { FORMAT, LIMITS } from '../wire/tables';
import { TABLES } from './tables';

export type FileSchema = typeof TABLES;
type FileTable = keyof FileSchema;
type Cells = Numbers | readonly (string | null)[];

/** A file that cannot be read: damaged, of another tool, of a newer version, or larger than it may be; completes "cannot show it: ". */
export class DamagedFileError extends Error {
  override readonly name: string = 'DamagedFileError';
}

/** A file that ends before its last part, as one does whose process was killed. */
class CutOffError extends DamagedFileError {
  override readonly name = 'CutOffError';
}

/** @throws DamagedFileError naming the expectation, unless the condition holds. */
export function demand(condition: boolean, expectation: string): asserts condition {
  if (!condition) {
    throw new DamagedFileError(`it contradicts itself: ${expectation}`);
  }
}

/** Have what a decoder complains about be damage of the file. */
export function inFile<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof WireError ? new DamagedFileError(`it contradicts itself: ${error.message}`) : error;
  }
}

export interface ReadOptions {
  /** Take what stands before damage. */
  readonly partial?: boolean;
  /** Most bytes that it may unpack to, instead of what its size justifies. */
  readonly maxBytes?: number;
}

export interface FileTables {
  /** What the first frame says. */
  readonly said: Field;
  /** All rows of each table, times in seconds of the recording. */
  readonly tables: Sections<FileSchema>;
  /** Why these are not all; null: they are. */
  readonly problem: string | null;
}

/**
 * Read a file. One that ends early is no error: `problem` says so.
 *
 * Rejects with a DamagedFileError where it is damaged or none.
 */
export async function readTables(file: Uint8Array, { partial = false, maxBytes }: ReadOptions = {}): Promise<FileTables> {
  const budget = new FileBudget(file.length, maxBytes);
  let gathered: Gathered | null = null;
  try {
    for await (const content of contents(file, budget)) {
      gathered = inFile(() => {
        if (gathered === null) {
          return new Gathered(content);
        }
        gathered.add(content, budget);
        return gathered;
      });
    }
  } catch (error) {
    if (gathered === null || !(error instanceof CutOffError || (partial && error instanceof DamagedFileError))) {
      throw error;
    }
    return gathered.tables(error.message);
  }
  demand(gathered !== null, 'a file begins with its header');
  return gathered.tables(null);
}

class FileBudget extends Budget {
  override take(bytes: number): void {
    try {
      super.take(bytes);
    } catch {
      throw new DamagedFileError('it unpacks to more than it may');
    }
  }
}

const MAGIC = [0x89, 0x54, 0x53, 0x4b];

/** What all frames hold, in order, up to the last one; nothing is yielded that was not checked. */
async function* contents(file: Uint8Array, budget: Budget): AsyncGenerator<Uint8Array> {
  if (file.length === 0 || MAGIC.some((byte, i) => i < file.length && file[i] !== byte)) {
    throw new DamagedFileError('it is not a recording of taskscope');
  }
  let [at, stream, isLast] = [0, 0, false];
  for (let number = 0; !isLast; number += 1) {
    const frame = frameAt(file, at, number);
    if (frame.number !== number || (number > 0 && frame.stream !== stream) || (frame.kind === 'header') !== (number === 0)) {
      throw new DamagedFileError(`part ${number + 1} is out of place`);
    }
    yield await unpacked(frame, budget);
    [at, stream, isLast] = [frame.end, frame.stream, frame.kind === 'end'];
  }
  if (at < file.length) {
    throw new DamagedFileError('there is something after its end');
  }
}

function frameAt(file: Uint8Array, at: number, number: number): Frame {
  const part = `part ${number + 1}`;
  try {
    const frame = readFrame(file, at);
    if (frame !== null) {
      return frame;
    }
  } catch (error) {
    throw error instanceof WireError ? new DamagedFileError(damage(file.subarray(at), part)) : error;
  }
  throw new CutOffError(file.length - at < HEAD_BYTES ? `it ends before ${part} is complete` : `it ends within ${part}`);
}

/** What is wrong with a frame that was refused. */
function damage(file: Uint8Array, part: string): string {
  const head = new DataView(file.buffer, file.byteOffset, HEAD_BYTES);
  const [version, isHeader, nBytes] = [head.getUint8(4), head.getUint8(5) === 0, head.getUint32(20, true)];
  const most = isHeader ? LIMITS.header : LIMITS.frame;
  if (head.getUint32(28, true) !== crc32(file.subarray(0, HEAD_BYTES - 4)) || MAGIC.some((byte, i) => file[i] !== byte)) {
    return `the header of ${part} is damaged`;
  }
  if (version > FORMAT) {
    return `it has version ${version} of the format and this taskscope reads ${FORMAT}; a newer taskscope may read it`;
  }
  return nBytes > most ? `${part} claims ${nBytes.toLocaleString('en')} bytes, of at most ${most.toLocaleString('en')}` : `${part} is damaged`;
}

async function unpacked(frame: Frame, budget: Budget): Promise<Uint8Array> {
  try {
    return await unpack(frame, budget);
  } catch (error) {
    const claims = `${frame.unpacked.toLocaleString('en')} bytes it claims`;
    throw error instanceof WireError ? new DamagedFileError(`part ${frame.number + 1} does not unpack to the ${claims}`) : error;
  }
}

/** 95 years: whatever is computed of times is finite then. */
const MAX_S = 3e9;

interface Rows {
  readonly n: number;
  readonly columns: Readonly<Record<string, Cells>>;
}

/** Takes batches in order, and gives the tables of as many as came. */
class Gathered {
  readonly #reader: BatchReader<FileSchema>;
  readonly #nothing: Sections<FileSchema>;
  readonly #parts = new Map(Object.keys(TABLES).map(name => [name, { n: 0, sections: [] as Rows[] }]));

  constructor(header: Uint8Array) {
    const read = readHeader(header);
    demand(Math.abs(read.zeroS) < MAX_S, 'zero_s must be a number of seconds');
    // Times in the file are the recorder's; those here are of the recording.
    this.#reader = new BatchReader({ ...read, zeroS: -read.zeroS }, TABLES);
    this.#nothing = this.#reader.nothing();
  }

  add(content: Uint8Array, budget: Budget): void {
    const sections = this.#reader.read(content, budget);
    for (const [name, parts] of this.#parts) {
      const { mode } = TABLES[name as FileTable];
      const section: Rows & { first: number } = sections[name as FileTable];
      // What became known of activities is told bit by bit.
      if ((mode === 'whole' && name !== 'completed') || (mode === 'last' && section.n > 0)) {
        parts.sections = [];
      } else if (mode === 'append' && section.n > 0) {
        demand(section.first === parts.n, `rows of ${name} follow each other`);
      }
      if (section.n > 0) {
        parts.sections.push(section);
        parts.n += section.n;
      }
    }
  }

  tables(problem: string | null): FileTables {
    const tables = [...this.#parts].map(([name, { sections }]) => [name, this.#table(name as FileTable, sections)]);
    return { said: this.#reader.header.said, tables: Object.fromEntries(tables) as Sections<FileSchema>, problem };
  }

  #table(name: FileTable, sections: readonly Rows[]): Rows & { first: number } {
    const { mode } = TABLES[name];
    const all: Record<string, Cells> = joined([this.#nothing[name].columns, ...sections.map(each => each.columns)]);
    if (name !== 'metadata') {
      Object.entries(all).forEach(([column, cells]) => {
        all[column] = isText(cells) ? cells.map(text => (text === null ? null : shortened(text))) : cells;
      });
    }
    const n = sections.reduce((sum, section) => sum + section.n, 0);
    if (!mode.startsWith('by ')) {
      return { first: 0, n, columns: all };
    }
    const places = [...new Map(Array.from(all[mode.slice(3)] as Numbers, (key, place) => [key, place])).values()];
    return { first: 0, n: places.length, columns: picked(all, places) };
  }
}

function isText(cells: Cells): cells is readonly (string | null)[] {
  return Array.isArray(cells);
}

/** The rows of all parts, which have the same columns. */
export function joined<C extends object>(parts: readonly C[]): C {
  const each = parts as readonly Readonly<Record<string, Cells>>[];
  return Object.fromEntries(Object.keys(each[0] ?? {}).map(name => [name, joinedCells(each.flatMap(part => (part[name]?.length ? [part[name]] : [])))])) as C;
}

const NONE = new Int32Array(0);

function joinedCells(parts: readonly Cells[]): Cells {
  const [first = NONE] = parts;
  if (parts.length < 2) {
    return first;
  }
  if (isText(first)) {
    return (parts as (string | null)[][]).flat();
  }
  const Typed = parts.every(part => part instanceof Int32Array) ? Int32Array : Float64Array;
  const all = new Typed(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts as Numbers[]) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Where in a column there is such a value. */
export function placesWhere(values: Numbers, isOf: (value: number) => boolean): Uint32Array {
  const places = new Uint32Array(values.length);
  let n = 0;
  for (let i = 0; i < values.length; i += 1) {
    if (isOf(values[i] as number)) {
      places[n] = i;
      n += 1;
    }
  }
  return places.subarray(0, n);
}

/** These rows, in this order. */
export function picked<C extends object>(columns: C, places: ArrayLike<number>): C {
  return Object.fromEntries(Object.entries(columns as Readonly<Record<string, Cells>>).map(([name, cells]) => [name, at(cells, places)])) as C;
}

export function at<T extends Cells>(cells: T, places: ArrayLike<number>): T;
export function at(cells: Cells, places: ArrayLike<number>): Cells {
  if (isText(cells)) {
    return Array.from(places, place => cells[place] ?? null);
  }
  // A loop, as `from` takes a third of a second for a million.
  const found = new (cells.constructor as typeof Float64Array)(places.length);
  for (let i = 0; i < places.length; i += 1) {
    found[i] = cells[places[i] as number] as number;
  }
  return found;
}

/** Longest text that is shown, in characters. */
const MAX_TEXT = 512;

/** Text as a page has it: whole characters, and an ellipsis where some are left out. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT) {
    return text;
  }
  const characters = Array.from(text);
  return characters.length <= MAX_TEXT ? text : `${characters.slice(0, MAX_TEXT).join('')}…`;
}
