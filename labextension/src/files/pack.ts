/** The content of frames: JSON, or columns after a JSON head, as `taskscope/export/pack.py` packs them. */
import { Field, WireError } from '../wire';
import { DamagedFileError } from './errors';
import type { Column, Kinds, TypeName } from './schema';
import { TYPES } from './schema';

export interface Packed {
  readonly head: Field;
  readonly columns: ReadonlyMap<string, Column>;
}

/** Read the JSON object of a frame. */
export function unpackJson(content: Uint8Array): Field {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    const value: unknown = JSON.parse(text.replace(NOT_JSON, (found, constant: string | undefined) => (constant === undefined ? found : 'null')));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return new Field(value, 'it');
    }
  } catch {
    throw new DamagedFileError('it holds no JSON where it should');
  }
  throw new DamagedFileError('it holds something else where an object should be');
}

/** Python writes numbers that are none where it may; strings are matched only to be left alone. */
const NOT_JSON = /"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|Infinity)\b)/g;

/** Read head and columns, each of a name and a type that `kinds` allows. */
export function unpackColumns(content: Uint8Array, kinds: Kinds): Packed {
  if (content.length < 4) {
    throw new DamagedFileError('columns without a head');
  }
  const nHead = new DataView(content.buffer, content.byteOffset, 4).getUint32(0, true);
  const head = unpackJson(content.subarray(4, 4 + nHead));
  const columns = new Map<string, Column>();
  let at = 4 + nHead;
  for (const { name, type, n } of listed(head)) {
    if (!Object.hasOwn(kinds, name) || !kinds[name]?.includes(type) || columns.has(name)) {
      throw new DamagedFileError(`a column ${JSON.stringify(name)} of type ${JSON.stringify(type)} is not known`);
    }
    const nBytes = n * TYPES[type].BYTES_PER_ELEMENT;
    if (nBytes > content.length - at) {
      throw new DamagedFileError(`the column ${JSON.stringify(name)} is shorter than it says`);
    }
    columns.set(name, unshuffled(content.subarray(at, at + nBytes), type));
    at += nBytes;
  }
  if (at !== content.length) {
    throw new DamagedFileError('there is more than the columns');
  }
  return { head, columns };
}

function listed(head: Field): { name: string; type: TypeName; n: number }[] {
  return inFile(() => head.at('columns').list().map(entry => {
    const [name, type, n] = entry.tuple(3) as [Field, Field, Field];
    return { name: name.text(), type: type.text() as TypeName, n: n.count(2 ** 32) };
  }));
}

/** Of each column all first bytes come first, then all second ones. */
function unshuffled(planes: Uint8Array, type: TypeName): Column {
  const Typed = TYPES[type];
  const width = Typed.BYTES_PER_ELEMENT;
  const n = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < width; plane += 1) {
    const first = plane * n;
    for (let i = 0; i < n; i += 1) {
      bytes[i * width + plane] = planes[first + i] as number;
    }
  }
  return new Typed(bytes.buffer);
}

/** Have what a field complains about be damage of the file. */
export function inFile<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof WireError ? new DamagedFileError(`it contradicts itself: ${error.message}`) : error;
  }
}

const nameOf = (column: Column): string => Object.prototype.toString.call(column);

/** Join pieces of a column; a column that is wide in one piece is wide in all. */
export function joined<T extends Column>(pieces: readonly T[], empty: T): T {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) {
    return first;
  }
  const Typed = (first ?? empty).constructor as new (n: number) => T;
  const all = new Typed(pieces.reduce((n, piece) => n + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    // By name, because another realm's array is no instance of this one's.
    if (nameOf(piece) !== nameOf(all)) {
      throw new DamagedFileError('it contradicts itself: pieces of a column must be of one type');
    }
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
