/** Frames as `taskscope/codec.py` writes them, in the plainest way. */
import { crc32 } from '../../src/wire/crc';
import { TABLES } from '../../src/wire/tables';

export type Values = readonly (number | string | null)[];
export type TableRows = Record<string, { first?: number; columns: Record<string, Values> }>;

type Described = readonly [readonly unknown[], readonly number[]];

/** Whole numbers above the least of them, in the fewest bytes, all lowest ones first; null is -1. */
function wholeNumbers(values: readonly (number | null)[]): Described {
  const numbers = values.map(value => BigInt(value ?? -1));
  const base = numbers.reduce((a, b) => (b < a ? b : a));
  const most = numbers.reduce((a, b) => (b > a ? b : a)) - base;
  const width = [0, 1, 2, 3, 4, 5, 6].find(bytes => most < 256n ** BigInt(bytes)) ?? 7;
  const bytes = Array.from({ length: width }, (_, k) => numbers.map(value => Number(((value - base) >> BigInt(8 * k)) & 255n))).flat();
  return [[width, Number(base)], bytes];
}

function column(kind: string, values: Values): Described {
  if (kind.startsWith('text')) {
    return [['text', values], []];
  }
  return kind.startsWith('f')
    ? [['f8'], [...new Uint8Array(Float64Array.from((values as (number | null)[]).map(value => value ?? NaN)).buffer)]]
    : wholeNumbers(values as (number | null)[]);
}

export function headerOf(said: Record<string, unknown> = {}): Record<string, unknown> {
  return { format: 1, recorder: 'r', epoch: 'r-1', zero_s: 0, tick_s: 1e-7, ...said };
}

/** The content of a frame. */
export function contentOf(json: string, data: readonly number[] = []): number[] {
  const said = [...new TextEncoder().encode(json)];
  return [...new Uint8Array(Uint32Array.of(said.length).buffer), ...said, ...data];
}

/** The content of a batch that is described so. */
export function described(tables: readonly unknown[], data: readonly number[] = []): number[] {
  return contentOf(JSON.stringify({ tables }), data);
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
  return frame(contentOf(JSON.stringify(header)), { kind: 0, number: 0, stream });
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap(part => [...part]));
}
