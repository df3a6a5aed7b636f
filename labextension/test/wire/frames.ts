/** Frames as `taskscope/codec.py` writes them, in the plainest way: numbers in as many planes as they need, nothing else. */
import { crc32 } from '../../src/wire/crc';
import { TABLES } from '../../src/wire/tables';

export type Values = readonly (number | string | null)[];
export type TableRows = Record<string, { first?: number; columns: Record<string, Values> }>;

type Described = readonly [readonly unknown[], readonly number[]];

/** Whole numbers above the least of them, in the fewest bytes; null is -1. */
function wholeNumbers(values: readonly (number | null)[]): Described {
  const numbers = values.map(value => BigInt(value ?? -1));
  const base = numbers.reduce((a, b) => (b < a ? b : a));
  const most = numbers.reduce((a, b) => (b > a ? b : a)) - base;
  const width = [1, 2, 4, 8].find(bytes => most < 256n ** BigInt(bytes)) ?? 8;
  const bytes = numbers.flatMap(value => Array.from({ length: width }, (_, k) => Number(((value - base) >> BigInt(8 * k)) & 255n)));
  return [[`u${width}`, Number(base)], bytes];
}

function floats(values: readonly (number | null)[], width: number): Described {
  const type = width === 8 ? Float64Array : Float32Array;
  return [[`f${width}`], [...new Uint8Array(type.from(values.map(value => value ?? NaN)).buffer)]];
}

function texts(values: readonly (string | null)[]): Described {
  const encoded = values.map(value => (value === null ? null : [...new TextEncoder().encode(value)]));
  const [lengths, bytes] = wholeNumbers(encoded.map(text => text?.length ?? null));
  const content = encoded.flatMap(text => text ?? []);
  return [['text', content.length, ...lengths], [...bytes, ...content]];
}

function column(kind: string, values: Values): Described {
  if (kind.startsWith('text')) {
    return texts(values as (string | null)[]);
  }
  return kind.startsWith('f') ? floats(values as (number | null)[], Number(kind[1])) : wholeNumbers(values as (number | null)[]);
}

export function headerOf(said: Record<string, unknown> = {}): Record<string, unknown> {
  return { format: 1, recorder: 'r', epoch: 'r-1', zero_s: 0, tick_s: 1e-7, ...said };
}

/** The content of a batch that is described so. */
export function described(tables: readonly unknown[], data: readonly number[] = [], planes: unknown = false): number[] {
  const said = [...new TextEncoder().encode(JSON.stringify({ planes, tables }))];
  return [...new Uint8Array(Uint32Array.of(said.length).buffer), ...said, ...data];
}

const KINDS: Record<string, { readonly columns: Record<string, string> }> = TABLES;

/** The content of a batch; times are ticks. */
export function batchBytes(tables: TableRows): number[] {
  const data: number[] = [];
  const rows = Object.keys(KINDS).flatMap(name => {
    const { first = 0, columns = {} } = tables[name] ?? {};
    const n = Object.values(columns)[0]?.length ?? 0;
    const specs = Object.entries(n === 0 ? {} : columns).map(([key, values]) => {
      const [how, bytes] = column(KINDS[name]?.columns[key] ?? 'int', values);
      bytes.forEach(byte => data.push(byte));
      return [key, ...how];
    });
    return n === 0 ? [] : [[name, first, n, specs]];
  });
  return described(rows, data);
}

export interface FrameHead {
  kind: number;
  number: number;
  stream?: number;
  packed?: number;
  unpacked?: number;
  version?: number;
  reserved?: number;
}

export function frame(content: ArrayLike<number>, { kind, number, stream = 7, packed = 0, unpacked, version = 1, reserved = 0 }: FrameHead): Uint8Array {
  const bytes = new Uint8Array(32 + content.length);
  const view = new DataView(bytes.buffer);
  bytes.set([0x89, 0x54, 0x53, 0x4b, version, kind, packed, reserved]);
  bytes.set(content, 32);
  view.setUint32(8, stream, true);
  view.setUint32(12, number, true);
  view.setUint32(16, content.length, true);
  view.setUint32(20, unpacked ?? content.length, true);
  view.setUint32(24, crc32(bytes.subarray(32)), true);
  view.setUint32(28, crc32(bytes.subarray(0, 28)), true);
  return bytes;
}

export function headerFrame(header = headerOf(), stream = 7): Uint8Array {
  return frame(new TextEncoder().encode(JSON.stringify(header)), { kind: 0, number: 0, stream });
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap(part => [...part]));
}
