/** Frames as `taskscope/codec.py` writes them, in the plainest way: numbers in as many planes as they need, nothing else. */
import { crc32 } from '../../src/wire/frames';
import type { Schema } from '../../src/wire/codec';
import { TABLES } from '../../src/wire/tables';

export type Values = readonly (number | string | null)[];
export type TableRows = Record<string, { first?: number; columns: Record<string, Values> }>;

export function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) {
      return [...bytes, left];
    }
    bytes.push((left % 128) + 128);
  }
}

export function signed(value: number): number[] {
  return varint(value < 0 ? -2 * value - 1 : 2 * value);
}

function planesOf(values: readonly number[], planes: number): number[] {
  return Array.from({ length: planes }, (_, k) => values.map(value => Math.floor(value / 256 ** k) % 256)).flat();
}

export function wholeNumbers(values: readonly number[], kind = 0, least = 0): number[] {
  const base = values.reduce((a, b) => Math.min(a, b), Infinity);
  const above = values.map(value => value - base);
  const most = above.reduce((a, b) => Math.max(a, b), 0);
  let planes = least;
  while (256 ** planes <= most) {
    planes += 1;
  }
  return [(kind << 6) | planes, ...signed(values.length === 0 ? 0 : base), ...planesOf(above, planes)];
}

function floats(values: readonly (number | null)[], width: number): number[] {
  const type = width === 8 ? Float64Array : Float32Array;
  const bytes = new Uint8Array(type.from(values.map(value => value ?? NaN)).buffer);
  return [width === 8 ? 0x81 : 0x80, ...Array.from({ length: width }, (_, k) => values.map((__, i) => bytes[width * i + k] as number)).flat()];
}

function texts(values: readonly (string | null)[], isOptional: boolean): number[] {
  const encoded = values.map(value => (value === null ? null : [...new TextEncoder().encode(value)]));
  const lengths = encoded.map(text => (text === null ? 0 : text.length + (isOptional ? 1 : 0)));
  return [0xc0, ...wholeNumbers(lengths, isOptional ? 1 : 0, 1), ...encoded.flatMap(text => text ?? [])];
}

/** One column as it is declared; `kind` 'int' where it is not. */
export function column(kind: string, values: Values, least = 0): number[] {
  if (kind.startsWith('text')) {
    return texts(values as (string | null)[], kind.startsWith('text?'));
  }
  if (kind.startsWith('f')) {
    return floats(values as (number | null)[], Number(kind[1]));
  }
  return kind.includes('?')
    ? wholeNumbers((values as (number | null)[]).map(value => (value === null ? 0 : value + 1)), 1, least)
    : wholeNumbers(values as number[], 0, least);
}

/** The header of a stream of all tables. */
export function headerOf(said: Record<string, unknown> = {}, schema: Schema = TABLES): Record<string, unknown> {
  const tables = Object.fromEntries(Object.entries(schema).map(([name, { columns }]) => [name, Object.keys(columns)]));
  return { format: 1, recorder: 'r', epoch: 'r-1', zero_s: 0, tick_s: 1e-7, tables, ...said };
}

/** The content of a batch; times are ticks. */
export function batchBytes(tables: TableRows, header = headerOf(), schema: Schema = TABLES): number[] {
  const known = header.tables as Record<string, string[]>;
  return Object.keys(known).flatMap((name, number) => {
    const rows = tables[name];
    const columns = known[name] ?? [];
    const n = rows?.columns[columns[0] ?? '']?.length ?? 0;
    if (rows === undefined || n === 0) {
      return [];
    }
    const kinds = schema[name]?.columns ?? {};
    return [
      number, ...varint(n), ...varint(rows.first ?? 0), ...varint(columns.length),
      ...columns.flatMap((c, i) => column(kinds[c] ?? 'int', rows.columns[c] ?? [], i === 0 ? 1 : 0))
    ];
  });
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
