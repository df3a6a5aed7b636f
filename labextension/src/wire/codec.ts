/** The one decoder of what taskscope writes: headers and batches of tables, as `taskscope/codec.py` makes them. */
import { Field, WireError } from './check';
import { Budget, fail } from './frames';
import { LIMITS, TABLES } from './tables';

type Declared = Readonly<Record<string, { readonly mode: string; readonly columns: Readonly<Record<string, string>> }>>;
const DECLARED: Declared = TABLES;
type Page = typeof TABLES;
export type TableName = keyof Page;
export type Numbers = Float64Array | Int32Array;
type Texts = (string | null)[];

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Kinds<T extends TableName> = Page[T]['columns'];
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
/** All tables; those of which a batch says nothing have no rows. */
export type Sections = { readonly [T in TableName]: Section<T> };

const MAX_S = 1e10;

/** Frame 0 of a stream. */
export interface Header {
  /** All of its fields. */
  readonly said: Field;
  readonly zeroS: number;
  readonly tickS: number;
}

/** @throws WireError where the content of a frame 0 is not a header. */
export function readHeader(content: Uint8Array): Header {
  const said = jsonOf(content, 'header');
  const tickS = said.at('tick_s').number();
  return {
    said,
    zeroS: said.at('zero_s').number(),
    tickS: tickS >= 1e-12 && tickS <= 1 ? tickS : said.at('tick_s').fail('a part of a second')
  };
}

function jsonOf(content: Uint8Array, name: string): Field {
  try {
    return new Field(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content)) as unknown, name);
  } catch (error) {
    return fail(`a ${name} in JSON`, String(error));
  }
}

/** Takes the batches of one stream in order, which refer to rows of those before. */
export class BatchReader {
  /** The number of the next row of each table. */
  readonly #next = new Map<string, number>();
  /** The columns of tables without rows. */
  readonly #nothing = Object.fromEntries(Object.entries(DECLARED).map(([table, { columns }]) => [
    table, Object.fromEntries(Object.keys(columns).map(name => [camel(name), NONE]))
  ]));

  constructor(readonly header: Header) {}

  /** All tables as a batch without rows has them. */
  nothing(): Sections {
    return Object.fromEntries(Object.entries(this.#nothing).map(([name, columns]) => {
      if (own(DECLARED, name)?.mode === 'whole') {
        this.#next.set(name, 0);
      }
      return [name, { first: this.#next.get(name) ?? 0, n: 0, columns }];
    })) as unknown as Sections;
  }

  /**
   * Decode the content of one frame.
   *
   * @throws WireError naming what is wrong; nothing is decoded in part.
   */
  read(content: Uint8Array, budget: Budget): Sections {
    const sections: Record<string, object> = this.nothing();
    const bytes = new Bytes(content, budget);
    const description = jsonOf(bytes.take(Math.min(bytes.u32(), LIMITS.header)), 'description');
    bytes.hasPlanes = description.at('planes').flag();
    const found = new Set<string>();
    for (const described of description.at('tables').list()) {
      const [nameOf, firstOf, nOf, specs] = described.list();
      const [name, first, n] = [nameOf?.text() ?? '', firstOf?.count() ?? 0, nOf?.count() ?? 0];
      if (specs === undefined || n === 0 || n > LIMITS.rows) {
        fail(`1 to ${LIMITS.rows} rows of a table with columns`, n);
      }
      const raw = new Map(specs.list().map(spec => {
        const [column, ...how] = spec.list();
        return [column?.text() ?? '', bytes.column(how, n)] as const;
      }));
      const known = own(DECLARED, name);
      if (known !== undefined) {
        const next = this.#next.get(name) ?? 0;
        const follows = known.mode === 'append' ? first >= next : known.mode !== 'restart' || first === 0 || first === next;
        if (found.has(name) || !follows) {
          fail(`a row of ${name} after those before`, first);
        }
        found.add(name);
        this.#next.set(name, first + n);
        sections[name] = { first, n, columns: this.#meant(name, known.columns, raw, n) };
      }
    }
    if (bytes.left > 0) {
      fail('the end of a batch', bytes.left);
    }
    return sections as unknown as Sections;
  }

  /** Columns in `camelCase`, in seconds, within the bounds of their declaration, NaN or null where they are unknown. */
  #meant(table: string, kinds: Readonly<Record<string, string>>, raw: ReadonlyMap<string, Raw>, n: number): Record<string, Numbers | Texts> {
    return Object.fromEntries(Object.entries(kinds).map(([name, declared]): [string, Numbers | Texts] => {
      const isText = declared.startsWith('text');
      const found = raw.get(name);
      if (found === undefined || found.type === 'null') {
        const isOptional = declared.split(' ')[0]?.endsWith('?') ?? false;
        return [camel(name), isOptional ? (isText ? new Array<null>(n).fill(null) : new Float64Array(n).fill(NaN)) : fail(`a column ${name} of ${table}`, found)];
      }
      const { values, type } = found;
      if (Array.isArray(values) || isText) {
        const isOf = Array.isArray(values) && isText && (declared === 'text?' || !values.includes(null));
        return [camel(name), isOf ? values : fail(`${table}.${name} to be ${declared}`, type)];
      }
      if (declared.startsWith('f')) {
        const isOf = (found.isOne === true || type === 'f8') && (declared.endsWith('?') || !values.some(Number.isNaN));
        return [camel(name), isOf ? values : fail(`${table}.${name} to be ${declared}`, type)];
      }
      return [camel(name), type === 'int' ? this.#numbers(`${table}.${name}`, declared, values) : fail(`${table}.${name} to be ${declared}`, type)];
    }));
  }

  /** Whole numbers as they are declared: times in seconds, -1 as NaN where a number may be unknown. */
  #numbers(name: string, declared: string, values: Numbers): Numbers {
    const [kind = '', link = '', bound = ''] = declared.split(' ');
    const isTime = kind.startsWith('time');
    const isSeconds = isTime || kind.startsWith('duration');
    const hasUnknown = kind.endsWith('?') && values.includes(-1);
    const found = (isSeconds || hasUnknown) && !(values instanceof Float64Array) ? new Float64Array(values.length) : values;
    if (isSeconds || hasUnknown) {
      // Times are after a zero of the recording's own, which is late on the clock of its recorder.
      const [zero, scale] = [isTime ? -this.header.zeroS : 0, isSeconds ? this.header.tickS : 1];
      for (let i = 0; i < values.length; i += 1) {
        const value = values[i] as number;
        found[i] = hasUnknown && value === -1 ? NaN : zero + value * scale;
      }
    }
    if (isSeconds) {
      return demand(found, name, isTime ? -MAX_S : 0, MAX_S);
    }
    if (link !== '') {
      return demand(found, name, 0, link === '<' ? Number(bound) : (this.#next.get(bound) ?? 0));
    }
    return kind.endsWith('?') ? demand(found, name, 0, Infinity) : found;
  }
}

/** The rows of a section one by one; for small tables. */
export function rowsOf<T extends TableName>(section: Section<T>): Row<T>[] {
  const columns = Object.entries(section.columns as Record<string, Numbers | Texts>);
  return Array.from({ length: section.n }, (_, i) =>
    Object.fromEntries(columns.map(([name, values]) => {
      const value = values[i] ?? null;
      return [name, typeof value === 'number' && Number.isNaN(value) ? null : value];
    })) as Row<T>
  );
}

/** Names come from others: what every object has is none of them. */
function own<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

const NONE = new Int32Array(0);

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Throws unless all that are known are at least `low` and less than `high`. */
function demand(values: Numbers, column: string, low: number, high: number): Numbers {
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (value < low || value >= high) {
      throw new WireError(`${column}[${i}]`, `from ${low} to less than ${high}`, value);
    }
  }
  return values;
}

interface Raw {
  readonly values: Numbers | Texts;
  readonly type: 'int' | 'f8' | 'text' | 'null';
  /** Whether its description holds the one value of all rows. */
  readonly isOne?: boolean;
}

const WHOLE = { u1: 1, u2: 2, u4: 4, u8: 8 } as const;

/** Steps through the bytes of columns. */
class Bytes {
  /** Whether the bytes of a column are sorted by place: all lowest ones first. */
  hasPlanes = true;
  #at = 0;
  readonly #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(private readonly bytes: Uint8Array, private readonly budget = new Budget(bytes.length)) {}

  get left(): number {
    return this.bytes.length - this.#at;
  }

  u32(): number {
    const bytes = this.take(4);
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  }

  take(length: number): Uint8Array {
    if (length > this.left) {
      fail(`${length} bytes more`, this.left);
    }
    this.#at += length;
    return this.bytes.subarray(this.#at - length, this.#at);
  }

  /** A column of `n` values, as its description says. */
  column(how: readonly Field[], n: number): Raw {
    const [kindOf, a, b, c] = how;
    const kind = kindOf?.text() ?? '';
    this.budget.take(8 * n);
    if (kind === 'one' && a !== undefined) {
      return constant(a.value, n);
    }
    if (kind === 'text' && a !== undefined && b !== undefined) {
      return this.#texts(this.#whole(b.text(), c?.value, n), a.count());
    }
    if (kind === 'f8') {
      const values = new Float64Array(this.ordered(8, n));
      return values.some(value => Math.abs(value) === Infinity) ? fail('finite numbers', Infinity) : { values, type: kind };
    }
    return { values: this.#whole(kind, a?.value, n), type: 'int' };
  }

  /** The bytes of `n` values, each in memory as a processor has it. */
  ordered(width: number, n: number): ArrayBuffer {
    const bytes = this.take(width * n);
    if (!this.hasPlanes || width === 1) {
      return new Uint8Array(bytes).buffer;
    }
    const ordered = new Uint8Array(width * n);
    for (let k = 0; k < width; k += 1) {
      for (let i = 0, p = k * n; i < n; i += 1) {
        ordered[i * width + k] = bytes[p + i] as number;
      }
    }
    return ordered.buffer;
  }

  #whole(kind: string, base: unknown, n: number): Numbers {
    if (kind === 'one') {
      return constant(base, n).values as Numbers;
    }
    if (!Object.hasOwn(WHOLE, kind) || !isWhole(base)) {
      fail('a column of a known kind', kind);
    }
    const width = WHOLE[kind as keyof typeof WHOLE];
    const buffer = this.ordered(width, n);
    if (width === 8) {
      const [halves, large] = [new Uint32Array(buffer), new Float64Array(n)];
      for (let i = 0; i < n; i += 1) {
        const value = base + (halves[2 * i + 1] as number) * 2 ** 32 + (halves[2 * i] as number);
        large[i] = isWhole(value) ? value : fail('whole numbers up to 2 ** 52', value);
      }
      return large;
    }
    const above = width === 1 ? new Uint8Array(buffer) : width === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
    const isSmall = base >= -(2 ** 31) && base + 256 ** width <= 2 ** 31;
    const values = isSmall ? new Int32Array(n) : new Float64Array(n);
    for (let i = 0; i < n; i += 1) {
      values[i] = base + (above[i] as number);
    }
    return values;
  }

  #texts(lengths: Numbers, total: number): Raw {
    let sum = 0;
    for (const length of lengths) {
      sum += length >= -1 ? Math.max(length, 0) : fail('the length of a text', length);
    }
    if (sum !== total) {
      fail(`texts of ${total} bytes`, sum);
    }
    this.budget.take(56 * lengths.length + 2 * total);
    const values = Array.from(lengths, length => {
      if (length < 0) {
        return null;
      }
      const encoded = this.take(length);
      try {
        return this.#text.decode(encoded);
      } catch (error) {
        return fail('text in UTF-8', String(error));
      }
    });
    return { values, type: 'text' };
  }
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= LIMITS.value;
}

/** The same value in all rows; null: unknown. */
function constant(value: unknown, n: number): Raw {
  if (value === null) {
    return { values: new Int32Array(n).fill(-1), type: 'null', isOne: true };
  }
  if (typeof value === 'string') {
    return { values: new Array<string>(n).fill(value), type: 'text' };
  }
  if (isWhole(value)) {
    return { values: Math.abs(value) < 2 ** 31 ? new Int32Array(n).fill(value) : new Float64Array(n).fill(value), type: 'int', isOne: true };
  }
  return Number.isFinite(value) ? { values: new Float64Array(n).fill(value as number), type: 'f8', isOne: true } : fail('a number, a text or null', typeof value);
}
