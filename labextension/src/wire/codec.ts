/** The one decoder of what taskscope writes: headers and batches of tables, as `taskscope/codec.py` makes them. */
import { Field, WireError } from './check';
import type { Budget } from './frames';
import { fail } from './frames';
import { BY, FORMAT, LIMITS, TABLES } from './tables';

/** The tables of a stream, as `tables.ts` here and the one of files have them. */
export type Schema = Readonly<Record<string, { readonly mode: string; readonly columns: Readonly<Record<string, string>> }>>;
/** The columns that transform 2 goes by, by table. */
export type By = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
type Page = typeof TABLES;
export type TableName<S extends Schema = Page> = keyof S & string;
export type Numbers = Float64Array | Int32Array;
type Texts = (string | null)[];

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Kinds<S extends Schema, T extends TableName<S>> = S[T]['columns'];
type CellsOf<K> = K extends 'text' ? string[] : K extends 'text?' ? Texts : Numbers;
type ValueOf<K> = K extends 'text' ? string : K extends 'text?' ? string | null : K extends `${string}?${string}` ? number | null : number;

/** The columns of a table in `camelCase`; times are seconds, unknown numbers NaN. */
export type Columns<T extends TableName<S>, S extends Schema = Page> = { readonly [C in keyof Kinds<S, T> & string as Camel<C>]: CellsOf<Kinds<S, T>[C]> };
/** One row; unknown is null. */
export type Row<T extends TableName<S>, S extends Schema = Page> = { readonly [C in keyof Kinds<S, T> & string as Camel<C>]: ValueOf<Kinds<S, T>[C]> };

/** The rows of one table in one batch; `first` is the number of the first one. */
export interface Section<T extends TableName<S>, S extends Schema = Page> {
  readonly first: number;
  readonly n: number;
  readonly columns: Columns<T, S>;
}
/** All tables; those of which a batch says nothing have no rows. */
export type Sections<S extends Schema = Page> = { readonly [T in TableName<S>]: Section<T, S> };

const MAX_S = 1e10;
/** Classes of rows are numbers of lanes and groups. */
const MAX_CLASSES = 65_536;

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
    tickS: tickS >= 1e-12 && tickS <= 1 ? tickS : said.at('tick_s').fail('a part of a second'),
    tables: Object.keys(tables.value as object).map(name => {
      const columns = tables.at(name).list().map(f => f.text());
      return new Set(columns).size === columns.length ? { name, columns } : tables.at(name).fail('different columns');
    })
  };
}

/** Takes the batches of one stream in order, which refer to rows of those before. */
export class BatchReader<S extends Schema = Page> {
  /** The number of the next row of each table. */
  readonly #next = new Map<string, number>();
  readonly #tables: Schema;
  /** The columns of tables without rows. */
  readonly #nothing: Readonly<Record<string, Record<string, Numbers>>>;

  /** Of a page, where no other tables are given. */
  constructor(readonly header: Header, tables?: S, private readonly by: By = BY) {
    this.#tables = tables ?? TABLES;
    this.#nothing = Object.fromEntries(Object.entries(this.#tables).map(([table, { columns }]) => [
      table, Object.fromEntries(Object.keys(columns).map(name => [camel(name), NONE]))
    ]));
  }

  /** How many rows of a table there were so far. */
  nRows(table: TableName<S>): number {
    return this.#next.get(table) ?? 0;
  }

  /**
   * Decode the content of one frame.
   *
   * @throws WireError naming what is wrong; nothing is decoded in part.
   */
  read(content: Uint8Array, budget: Budget): Sections<S> {
    const bytes = new Bytes(content, budget);
    const sections: Record<string, { first: number; n: number; columns: Record<string, Numbers | Texts> }> = {};
    for (const [name, columns] of Object.entries(this.#nothing)) {
      if (own(this.#tables, name)?.mode === 'whole') {
        this.#next.set(name, 0);
      }
      sections[name] = { first: this.#next.get(name) ?? 0, n: 0, columns };
    }
    let last = -1;
    while (bytes.left > 0) {
      const number = bytes.byte();
      const table = this.header.tables[number];
      const n = bytes.count(LIMITS.rows);
      const first = bytes.count(LIMITS.value);
      const columns = bytes.count(LIMITS.columns);
      if (table === undefined || number <= last || columns !== table.columns.length || n === 0 || n > bytes.left) {
        fail('rows of a known table, with all of its columns and after those before', number);
      }
      last = number;
      const { name } = table;
      const raw = bytes.columns(own(this.by, name) ?? {}, table.columns, n);
      const known = own(this.#tables, name);
      if (known !== undefined) {
        if (known.mode === 'append' && first < (this.#next.get(name) ?? 0)) {
          fail(`a row of ${name} after those before`, first);
        }
        this.#next.set(name, first + n);
        sections[name] = { first, n, columns: this.#meant(name, known.columns, raw, n) };
      }
    }
    return sections as unknown as Sections<S>;
  }

  /** Columns under the names that are used here, in seconds, checked, with what is missing unknown. */
  #meant(table: string, kinds: Readonly<Record<string, string>>, raw: ReadonlyMap<string, Raw>, n: number): Record<string, Numbers | Texts> {
    const columns: Record<string, Numbers | Texts> = {};
    const { zeroS, tickS } = this.header;
    for (const [name, declared] of Object.entries(kinds)) {
      const [kind = '', link = '', bound = ''] = declared.split(' ');
      const isOptional = kind.endsWith('?');
      const found = raw.get(name);
      const isText = kind.startsWith('text');
      if (found === undefined) {
        columns[camel(name)] = isOptional ? (isText ? new Array<null>(n).fill(null) : new Float64Array(n).fill(NaN)) : fail(`a column ${name} of ${table}`, found);
        continue;
      }
      const { values, type } = found;
      if (type !== (isText ? 'text' : kind.startsWith('f') ? kind.slice(0, 2) : 'int') || (!isOptional && found.hasUnknown)) {
        fail(`${table}.${name} to be ${declared}`, type);
      }
      columns[camel(name)] = values;
      if (Array.isArray(values) || type !== 'int') {
        continue;
      }
      const isTime = kind.startsWith('time');
      if (isTime || kind.startsWith('duration')) {
        const zero = isTime ? zeroS : 0;
        const seconds = values instanceof Float64Array ? values : new Float64Array(n);
        for (let i = 0; i < n; i += 1) {
          seconds[i] = zero + (values[i] as number) * tickS;
        }
        columns[camel(name)] = demand(seconds, table, name, isTime ? -MAX_S : 0, MAX_S);
      } else if (link !== '') {
        demand(values, table, name, 0, link === '<' ? Number(bound) : (this.#next.get(bound) ?? 0));
      } else if (isOptional) {
        demand(values, table, name, 0, Infinity);
      }
    }
    return columns;
  }
}

/** The rows of a section one by one; for small tables. */
export function rowsOf<T extends TableName<S>, S extends Schema = Page>(section: Section<T, S>): Row<T, S>[] {
  const columns = Object.entries(section.columns as Record<string, Numbers | Texts>);
  return Array.from({ length: section.n }, (_, i) =>
    Object.fromEntries(columns.map(([name, values]) => {
      const value = values[i] ?? null;
      return [name, typeof value === 'number' && Number.isNaN(value) ? null : value];
    })) as Row<T, S>
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
function demand(values: Numbers, table: string, column: string, low: number, high: number): Numbers {
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (value < low || value >= high) {
      throw new WireError(`${table}.${column}[${i}]`, `from ${low} to less than ${high}`, value);
    }
  }
  return values;
}

interface Raw {
  readonly values: Numbers | Texts;
  readonly hasUnknown: boolean;
  readonly type: 'int' | 'f4' | 'f8' | 'text';
}

function whole(value: number): void {
  if (!(Math.abs(value) <= LIMITS.value)) {
    fail('whole numbers up to 2 ** 52', value);
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
    const zigzag = this.count(2 * LIMITS.value);
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }

  /** The columns of a table, by name; one that goes by others comes after them. */
  columns(by: Readonly<Record<string, readonly string[]>>, names: readonly string[], n: number): Map<string, Raw> {
    const found = new Map<string, Raw>();
    for (const name of names) {
      const [group = '', plus = ''] = own(by, name) ?? [];
      found.set(name, this.#column(n, { group: found.get(group)?.values, plus: plus === '' ? null : found.get(plus)?.values }));
    }
    return found;
  }

  #column(n: number, near: Near): Raw {
    const head = this.byte();
    const kind = head >> 6;
    if (kind < 2) {
      const values = this.#wholeNumbers(head, n, near);
      // Stored is one more; 0 is unknown.
      return kind === 0
        ? { values, hasUnknown: false, type: 'int' }
        : { values: Float64Array.from(values, value => (value === 0 ? NaN : value - 1)), hasUnknown: true, type: 'int' };
    }
    if (kind === 2) {
      const values = this.#floats(head & 63, n);
      return { values, hasUnknown: values.some(Number.isNaN), type: head & 1 ? 'f8' : 'f4' };
    }
    if ((head & 63) !== 0) {
      fail('a column of texts', head);
    }
    this.budget.take(64 * n);
    const lengths = this.byte();
    const hasUnknown = lengths >> 6 === 1;
    return { values: this.#texts(this.#wholeNumbers(lengths, n), hasUnknown), hasUnknown, type: 'text' };
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
    this.budget.take(8 * n);
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

  #wholeNumbers(head: number, n: number, near: Near = {}, isInner = false): Numbers {
    const planes = head & 7;
    const transform = (head >> 3) & 3;
    const hasExceptions = (head & 32) !== 0;
    if (head > 127 || transform > 2 || (isInner && head > 7)) {
      fail('a column of whole numbers', head);
    }
    this.budget.take(8 * n);
    const base = this.signed();
    const b = this.take(planes * n);
    // What fits into 32 bits is read several times faster.
    if (transform === 0 && !hasExceptions && planes < 4 && base >= -(2 ** 31) && base + 256 ** planes <= 2 ** 31) {
      return smallNumbers(b, n, planes, base);
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
    } else {
      for (let i = 0; i < n; i += 1) {
        values[i] = step(values[i] as number);
      }
      if (transform === 1) {
        for (let i = 0, sum = base; i < n; i += 1) {
          values[i] = sum += values[i] as number;
        }
      } else {
        addByClass(values, base, near);
      }
    }
    values.forEach(whole);
    return values;
  }

  /** Add what few numbers have beyond their planes. */
  #exceptions(values: Float64Array, scale: number): void {
    const m = this.count(Math.min(values.length, this.left));
    if (m === 0) {
      fail('some exceptions', m);
    }
    const [place, rest] = [this.#wholeNumbers(this.byte(), m, {}, true), this.#wholeNumbers(this.byte(), m, {}, true)];
    for (let i = 0, last = -1; i < m; i += 1) {
      const [at, more] = [place[i] as number, rest[i] as number];
      if (at <= last || at >= values.length || more <= 0) {
        fail('exceptions in order', at);
      }
      values[at] = (values[at] as number) + more * scale;
      last = at;
    }
  }
}

/** What a zigzagged difference is. */
function step(zigzag: number): number {
  if (zigzag >= LIMITS.step) {
    fail('small differences', zigzag);
  }
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
}

/** The columns that another one goes by; `plus` null: none is added. */
interface Near {
  readonly group?: Numbers | Texts | undefined;
  readonly plus?: Numbers | Texts | null | undefined;
}

/** What each row has more than the last one of its class and a column besides, added up in place. */
function addByClass(values: Float64Array, base: number, { group, plus }: Near): void {
  if (group === undefined || plus === undefined || Array.isArray(group) || Array.isArray(plus)) {
    fail('a column that goes by others', group);
  }
  const n = values.length;
  let most = 0;
  for (const one of group) {
    most = one >= 0 && one < MAX_CLASSES ? Math.max(most, one) : fail('few classes', one);
  }
  const last = new Float64Array(most + 1).fill(base);
  for (let i = 0; i < n; i += 1) {
    const more = plus?.[i] ?? 0;
    if (!(more >= 0 && more < LIMITS.step)) {
      fail('small differences', more);
    }
    const one = group[i] as number;
    values[i] = last[one] = (last[one] as number) + more + (values[i] as number);
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
