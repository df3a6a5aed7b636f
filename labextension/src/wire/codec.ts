/**
 * The one decoder of what taskscope writes: frames, and in them batches of tables, as `taskscope/codec.py` makes them.
 *
 * A length is checked against what is left before anything is taken, and what is to be allocated is charged to a budget before it is.
 */
import { Field, WireError } from './check';
import { BY, FORMAT, LIMITS, MODES, TABLES } from './tables';

export type TableName = keyof typeof TABLES;
export type Numbers = Float64Array | Int32Array;
type Texts = (string | null)[];

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Kinds<T extends TableName> = (typeof TABLES)[T];
type CellsOf<K> = K extends 'text' ? string[] : K extends 'text?' ? Texts : Numbers;
type ValueOf<K> = K extends 'text' ? string : K extends 'text?' ? string | null : K extends `${string}?${string}` ? number | null : number;

/** The columns of a table in `camelCase`; times are seconds, unknown numbers NaN. */
export type Columns<T extends TableName> = { readonly [C in keyof Kinds<T> & string as Camel<C>]: CellsOf<Kinds<T>[C]> };
/** One row; unknown is null. */
export type Row<T extends TableName> = { readonly [C in keyof Kinds<T> & string as Camel<C>]: ValueOf<Kinds<T>[C]> };

/** The rows of one table in one batch; `first` is the number of the first one. */
export interface Section<T extends TableName> {
  readonly first: number;
  readonly n: number;
  readonly columns: Columns<T>;
}
export type Sections = { readonly [T in TableName]?: Section<T> };

const MAGIC = 0x4b535489;
export const HEAD_BYTES = 32;
const KINDS = ['header', 'batch', 'end'] as const;
/** Sums of `LIMITS.rows` differences below this stay whole numbers. */
const MAX_STEP = 2 ** 34;
const MAX_WHOLE = 2 ** 53;
const MAX_S = 1e10;

function fail(expected: string, got: unknown): never {
  throw new WireError('frame', expected, got);
}

// --- frames

export interface Frame {
  readonly kind: (typeof KINDS)[number];
  /** Whether the content is deflated: `unpacked` tells its length then. */
  readonly isPacked: boolean;
  readonly stream: number;
  readonly number: number;
  readonly unpacked: number;
  readonly content: Uint8Array;
  /** Where the next frame begins. */
  readonly end: number;
}

/**
 * The frame that begins at a byte; null where the bytes end before it does.
 *
 * @throws WireError where it is damaged or larger than frames are.
 */
export function readFrame(bytes: Uint8Array, at: number): Frame | null {
  if (bytes.length - at < HEAD_BYTES) {
    return null;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEAD_BYTES);
  const u32 = (place: number): number => view.getUint32(place, true);
  if (u32(0) !== MAGIC) {
    fail('a frame of taskscope', u32(0));
  }
  if (u32(28) !== crc32(bytes.subarray(at, at + 28))) {
    fail('a head with its checksum', u32(28));
  }
  const [version, kind, packed, reserved] = bytes.subarray(at + 4, at + 8) as unknown as [number, number, number, number];
  if (version > FORMAT) {
    fail(`format ${FORMAT} (a newer taskscope may read it; on a page: reload it)`, version);
  }
  const [stored, unpacked] = [u32(16), u32(20)];
  const name = KINDS[kind];
  const isFit = packed === 1 ? unpacked <= LIMITS.frame && stored <= LIMITS.frame : packed === 0 && unpacked === stored;
  if (name === undefined || reserved !== 0 || !isFit || unpacked > (kind === 0 ? LIMITS.header : LIMITS.frame)) {
    fail(`a frame of at most ${LIMITS.frame} bytes`, unpacked);
  }
  const end = at + HEAD_BYTES + stored;
  if (end > bytes.length) {
    return null;
  }
  const content = bytes.subarray(at + HEAD_BYTES, end);
  if (crc32(content) !== u32(24)) {
    fail('content with its checksum', u32(24));
  }
  return { kind: name, isPacked: packed === 1, stream: u32(8), number: u32(12), unpacked, content, end };
}

/** The content of a frame, inflated where it is packed. */
export async function unpack({ content, isPacked, unpacked }: Frame, budget: Budget): Promise<Uint8Array> {
  budget.take(unpacked);
  return isPacked ? inflate(content, unpacked) : content;
}

/** Rejects where it makes more or less than `length` bytes. */
export async function inflate(packed: Uint8Array, length: number): Promise<Uint8Array> {
  const stream = new DecompressionStream('deflate');
  const writer = stream.writable.getWriter();
  // What goes wrong here goes wrong in reading, too, where it is awaited.
  writer.write(packed as Uint8Array<ArrayBuffer>).catch(() => undefined);
  writer.close().catch(() => undefined);
  const out = new Uint8Array(length);
  const reader = stream.readable.getReader();
  let at = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (at + part.value.length > length) {
        fail(`${length} bytes unpacked`, 'more');
      }
      out.set(part.value, at);
      at += part.value.length;
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error instanceof WireError ? error : new WireError('frame', 'deflated bytes', String(error));
  }
  return at === length ? out : fail(`${length} bytes unpacked`, at);
}

/** What may yet be allocated for what somebody else wrote. */
export class Budget {
  /** @param size how many bytes were given */
  constructor(size: number, private left = LIMITS.floor + LIMITS.factor * size) {}

  take(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) {
      fail('less than its size justifies', 'more');
    }
  }
}

const CRC = Array.from({ length: 4 }, () => new Uint32Array(256));
CRC[0]?.forEach((_, i, table) => {
  let c = i;
  for (let k = 0; k < 8; k += 1) {
    c = (c & 1) === 0 ? c >>> 1 : (c >>> 1) ^ 0xedb88320;
  }
  table[i] = c;
});
for (let t = 1; t < 4; t += 1) {
  CRC[t]?.forEach((_, i, table) => {
    const before = CRC[t - 1]?.[i] as number;
    table[i] = (before >>> 8) ^ (CRC[0]?.[before & 255] as number);
  });
}

/** As zlib's; four bytes a step. */
export function crc32(b: Uint8Array): number {
  const [t0, t1, t2, t3] = CRC as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  const at = (table: Uint32Array, i: number): number => table[i & 255] as number;
  let c = -1;
  let i = 0;
  for (const n = b.length - 3; i < n; i += 4) {
    c ^= (b[i] as number) | ((b[i + 1] as number) << 8) | ((b[i + 2] as number) << 16) | ((b[i + 3] as number) << 24);
    c = at(t3, c) ^ at(t2, c >>> 8) ^ at(t1, c >>> 16) ^ at(t0, c >>> 24);
  }
  for (; i < b.length; i += 1) {
    c = at(t0, c ^ (b[i] as number)) ^ (c >>> 8);
  }
  return ~c >>> 0;
}

// --- what a stream is of

/** What is known of a stream from its frame 0. */
export interface Header {
  /** Everything it says; the caller reads what he needs. */
  readonly said: Field;
  readonly zeroS: number;
  readonly tickS: number;
  /** By number of the table: its name, and the names of its columns. */
  readonly tables: readonly { readonly name: string; readonly columns: readonly string[] }[];
}

/** @throws WireError where the content of a frame 0 is none. */
export function readHeader(content: Uint8Array): Header {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch (error) {
    fail('a header in JSON', String(error));
  }
  const said = new Field(json, 'header');
  if (said.at('format').count() > FORMAT) {
    said.at('format').fail(`${FORMAT}; a newer taskscope may read it`);
  }
  const tables = said.at('tables');
  tables.at('');
  const tickS = said.at('tick_s').number();
  return {
    said,
    zeroS: said.at('zero_s').number(),
    tickS: tickS > 0 && tickS < MAX_S ? tickS : said.at('tick_s').fail('more than 0'),
    tables: Object.keys(tables.value as object).map(name => ({ name, columns: tables.at(name).list().map(f => f.text()) }))
  };
}

// --- batches

/** Takes the batches of one stream in order, which refer to rows of those before. */
export class BatchReader {
  /** The number of the next row of each table. */
  readonly #next = new Map<string, number>();

  constructor(readonly header: Header) {}

  /**
   * Decode the content of one frame.
   *
   * @throws WireError naming what is wrong; nothing is decoded in part.
   */
  read(content: Uint8Array, budget: Budget): Sections {
    const bytes = new Bytes(content, budget);
    const sections = new Map<string, { first: number; n: number; columns: Record<string, Numbers | Texts> }>();
    let last = -1;
    while (bytes.left > 0) {
      const number = bytes.byte();
      const table = this.header.tables[number];
      const n = bytes.count(Math.min(LIMITS.rows, bytes.left));
      const first = bytes.count(MAX_WHOLE);
      const columns = bytes.count(LIMITS.columns);
      if (table === undefined || number <= last || columns !== table.columns.length || n > bytes.left) {
        fail('a known table with all of its columns, after those before', number);
      }
      last = number;
      const raw = readColumns(bytes, table.name, table.columns, n);
      if (isKnown(table.name)) {
        sections.set(table.name, { first, n, columns: this.#meant(table.name, raw, n) });
        const isAppended = MODES[table.name] === 'append';
        if (isAppended && first < (this.#next.get(table.name) ?? 0)) {
          fail(`a row of ${table.name} after those before`, first);
        }
        this.#next.set(table.name, isAppended ? first + n : n);
      }
    }
    for (const [name, { columns }] of sections) {
      for (const [column, kind] of Object.entries(TABLES[name as TableName])) {
        const referred = / of (.*)/.exec(kind)?.[1];
        if (referred !== undefined) {
          const whole = isKnown(referred) && MODES[referred] !== 'append' ? sections.get(referred)?.n : this.#next.get(referred);
          demand(columns[camel(column)] as Numbers, name, column, 0, whole ?? 0);
        }
      }
    }
    return Object.fromEntries(sections) as Sections;
  }

  /** Columns under the names that are used here, in seconds, checked, with what is missing unknown. */
  #meant(table: TableName, raw: ReadonlyMap<string, Raw>, n: number): Record<string, Numbers | Texts> {
    const columns: Record<string, Numbers | Texts> = {};
    const { zeroS, tickS } = this.header;
    for (const [name, declared] of Object.entries(TABLES[table])) {
      const [kind = '', link = '', limit = ''] = declared.split(' ');
      const isOptional = kind.endsWith('?');
      const found = raw.get(name);
      const isText = kind.startsWith('text');
      if (found === undefined) {
        columns[camel(name)] = isOptional ? (isText ? new Array<null>(n).fill(null) : new Float64Array(n).fill(NaN)) : fail(`a column ${name} of ${table}`, found);
        continue;
      }
      let { values } = found;
      const kindOf = Array.isArray(values) ? 'text' : found.isFloat ? 'f' : '';
      const isMeant = isText ? kindOf === 'text' : kindOf === (kind.startsWith('f') ? 'f' : '');
      if (!isMeant || (!isOptional && found.hasUnknown)) {
        fail(`${table}.${name} to be ${declared}`, kindOf);
      }
      if (!Array.isArray(values)) {
        if (kind.startsWith('time') || kind.startsWith('duration')) {
          const zero = kind.startsWith('time') ? zeroS : 0;
          const seconds = values instanceof Float64Array ? values : new Float64Array(n);
          for (let i = 0; i < n; i += 1) {
            seconds[i] = zero + (values[i] as number) * tickS;
          }
          values = seconds;
          demand(values, table, name, kind.startsWith('duration') ? 0 : -MAX_S, MAX_S);
        } else if (link === '<') {
          demand(values, table, name, 0, Number(limit));
        }
      }
      columns[camel(name)] = values;
    }
    return columns;
  }
}

/** The rows of a section one by one; for small tables. */
export function rowsOf<T extends TableName>(section: Section<T> | undefined): Row<T>[] {
  const columns = Object.entries((section?.columns ?? {}) as Record<string, Numbers | Texts>);
  return Array.from({ length: section?.n ?? 0 }, (_, i) =>
    Object.fromEntries(columns.map(([name, values]) => {
      const value = values[i] ?? null;
      return [name, typeof value === 'number' && Number.isNaN(value) ? null : value];
    })) as Row<T>
  );
}

function isKnown(name: string): name is TableName {
  return Object.hasOwn(TABLES, name);
}

const CAMEL = new Map<string, string>();

function camel(name: string): string {
  let found = CAMEL.get(name);
  if (found === undefined) {
    found = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    CAMEL.set(name, found);
  }
  return found;
}

/** Throws unless all that are known are at least `low` and less than `high`. */
function demand(values: Numbers, table: string, column: string, low: number, high: number): void {
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (value < low || value >= high) {
      throw new WireError(`${table}.${column}[${i}]`, `from ${low} to less than ${high}`, value);
    }
  }
}

interface Raw {
  values: Numbers | Texts;
  readonly hasUnknown: boolean;
  readonly isFloat: boolean;
  /** Differences to the last row of the same class, to be added up when that column is known. */
  readonly base: number | null;
}

function readColumns(bytes: Bytes, table: string, names: readonly string[], n: number): Map<string, Raw> {
  const raw = new Map(names.map(name => [name, bytes.column(n)] as const));
  const by: Record<string, readonly string[]> = (BY as Record<string, Record<string, readonly string[]>>)[table] ?? {};
  for (const [name, column] of raw) {
    if (column.base !== null) {
      const [group, plus] = (by[name] ?? []).map(other => raw.get(other));
      if (group === undefined || Array.isArray(group.values) || group.base !== null || Array.isArray(plus?.values)) {
        fail(`a class of ${table}.${name}`, by[name]);
      }
      addByClass(column.values as Float64Array, column.base, group.values, plus?.values ?? null);
    }
  }
  for (const column of raw.values()) {
    if (column.hasUnknown && !Array.isArray(column.values)) {
      // Stored is one more; 0 is unknown.
      column.values = Float64Array.from(column.values, value => (value === 0 ? NaN : value - 1));
    }
  }
  return raw;
}

/** What each row has more than the last one of its class, added up in place. */
function addByClass(values: Float64Array, base: number, group: Numbers, plus: Numbers | null): void {
  const last = new Map<number, number>();
  for (let i = 0; i < values.length; i += 1) {
    const more = plus?.[i] ?? 0;
    if (!(Math.abs(more) < MAX_STEP)) {
      fail('small differences', more);
    }
    const value = (last.get(group[i] as number) ?? 0) + more + base + (values[i] as number);
    values[i] = value;
    last.set(group[i] as number, value);
  }
  values.forEach(whole);
}

function whole(value: number): void {
  if (!(Math.abs(value) <= MAX_WHOLE)) {
    fail('whole numbers up to 2 ** 53', value);
  }
}

/** Steps through the content of one frame. */
class Bytes {
  #at = 0;
  readonly #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(private readonly bytes: Uint8Array, private readonly budget: Budget) {}

  get left(): number {
    return this.bytes.length - this.#at;
  }

  byte(): number {
    return this.take(1)[0] as number;
  }

  take(length: number): Uint8Array {
    if (length > this.left) {
      fail(`${length} bytes more`, this.left);
    }
    this.#at += length;
    return this.bytes.subarray(this.#at - length, this.#at);
  }

  /** A whole number from 0 to `max`. */
  count(max: number): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const b = this.byte();
      value += (b & 127) * scale;
      if (b < 128) {
        return value <= max ? value : fail(`a number up to ${max}`, value);
      }
      if (scale >= 2 ** 49) {
        fail('a number of at most 8 bytes', 'more');
      }
    }
  }

  signed(): number {
    const zigzag = this.count(2 * MAX_WHOLE);
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }

  column(n: number): Raw {
    const head = this.byte();
    const kind = head >> 6;
    if (kind < 2) {
      this.budget.take(8 * n);
      const { values, base } = this.#wholeNumbers(head, n);
      return { values, hasUnknown: kind === 1, isFloat: false, base };
    }
    if (kind === 2) {
      this.budget.take(8 * n);
      return { values: this.#floats(head & 63, n), hasUnknown: false, isFloat: true, base: null };
    }
    if ((head & 63) !== 0) {
      fail('a column of texts', head);
    }
    this.budget.take(64 * n);
    const lengths = this.column(n);
    if (Array.isArray(lengths.values) || lengths.isFloat || lengths.base !== null) {
      fail('lengths of texts', head);
    }
    return { values: this.#texts(lengths.values, lengths.hasUnknown), hasUnknown: lengths.hasUnknown, isFloat: false, base: null };
  }

  #texts(lengths: Numbers, hasUnknown: boolean): Texts {
    return Array.from(lengths, stored => {
      const length = hasUnknown ? stored - 1 : stored;
      if (length < 0) {
        return hasUnknown && stored === 0 ? null : fail('the length of a text', length);
      }
      const encoded = this.take(length);
      this.budget.take(2 * length);
      try {
        const text = this.#text.decode(encoded);
        return text.length <= LIMITS.text ? text : fail(`a text of at most ${LIMITS.text} characters`, text.length);
      } catch (error) {
        throw error instanceof WireError ? error : new WireError('frame', 'text in UTF-8', String(error));
      }
    });
  }

  #floats(head: number, n: number): Float64Array {
    if (head > 1) {
      fail('a column of floats', head);
    }
    const width = head === 0 ? 4 : 8;
    const planes = this.take(width * n);
    const bits = new Uint8Array(width * n);
    for (let k = 0; k < width; k += 1) {
      for (let i = 0; i < n; i += 1) {
        bits[i * width + k] = planes[k * n + i] as number;
      }
    }
    const values = width === 8 ? new Float64Array(bits.buffer) : Float64Array.from(new Float32Array(bits.buffer));
    return values.every(value => Math.abs(value) !== Infinity) ? values : fail('finite numbers', Infinity);
  }

  #wholeNumbers(head: number, n: number, isInner = false): { values: Numbers; base: number | null } {
    const planes = head & 7;
    const transform = (head >> 3) & 3;
    const hasExceptions = (head & 32) !== 0;
    if (transform > 2 || (isInner && head > 7)) {
      fail('a column of whole numbers', head);
    }
    const base = this.signed();
    const b = this.take(planes * n);
    // What fits into 32 bits is read several times faster.
    if (transform === 0 && !hasExceptions && planes < 4 && base >= -(2 ** 31) && base + 256 ** planes <= 2 ** 31) {
      return { values: smallNumbers(b, n, planes, base), base: null };
    }
    const values = new Float64Array(n);
    for (let k = planes - 1; k >= 0; k -= 1) {
      for (let i = 0, p = k * n; i < n; i += 1) {
        values[i] = (values[i] as number) * 256 + (b[p + i] as number);
      }
    }
    if (hasExceptions) {
      this.#exceptions(values, 256 ** planes);
    }
    if (transform === 0) {
      for (let i = 0; i < n; i += 1) {
        values[i] = (values[i] as number) + base;
      }
      values.forEach(whole);
      return { values, base: null };
    }
    let sum = base;
    for (let i = 0; i < n; i += 1) {
      const zigzag = values[i] as number;
      if (zigzag >= MAX_STEP) {
        fail('small differences', zigzag);
      }
      const step = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      values[i] = transform === 1 ? (sum += step) : step;
    }
    if (transform === 2) {
      return { values, base };
    }
    values.forEach(whole);
    return { values, base: null };
  }

  /** Add what few numbers have beyond their planes. */
  #exceptions(values: Float64Array, scale: number): void {
    const m = this.count(Math.min(values.length, this.left));
    this.budget.take(16 * m);
    const [place, rest] = [this.#inner(m), this.#inner(m)];
    for (let i = 0, last = -1; i < m; i += 1) {
      const [at, more] = [place[i] as number, rest[i] as number];
      if (at <= last || at >= values.length || more < 0) {
        fail('exceptions in order', at);
      }
      values[at] = (values[at] as number) + more * scale;
      last = at;
    }
  }

  #inner(m: number): Numbers {
    const head = this.byte();
    return this.#wholeNumbers(head, m, true).values;
  }
}

function smallNumbers(b: Uint8Array, n: number, planes: number, base: number): Int32Array {
  const values = new Int32Array(n).fill(base);
  for (let k = 0; k < planes; k += 1) {
    for (let i = 0, p = k * n; i < n; i += 1) {
      values[i] = (values[i] as number) + ((b[p + i] as number) << (8 * k));
    }
  }
  return values;
}
