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
  const { said } = described(content, 'header', new Budget(content.length));
  const tickS = said.at('tick_s').number();
  return {
    said,
    zeroS: said.at('zero_s').number(),
    tickS: tickS >= 1e-12 && tickS <= 1 ? tickS : said.at('tick_s').fail('a part of a second')
  };
}

/** Most bytes in memory of a byte of JSON. */
const JSON_BYTES = 16;

/** The JSON object of a frame, and the bytes that follow it. */
function described(content: Uint8Array, name: string, budget: Budget): { said: Field; data: Uint8Array } {
  const end = content.length < 4 ? Infinity : 4 + new DataView(content.buffer, content.byteOffset).getUint32(0, true);
  if (end > content.length) {
    fail(`a ${name} of ${end} bytes`, content.length);
  }
  budget.take(JSON_BYTES * end);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content.subarray(4, end));
    return { said: new Field(JSON.parse(text) as unknown, name), data: content.subarray(end) };
  } catch (error) {
    return fail(`a ${name} in JSON`, String(error));
  }
}

/** A column as it is described, and its bytes. */
interface Raw {
  readonly kind: unknown;
  readonly how: unknown;
  readonly bytes: Uint8Array;
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
   * Decode the content of one frame, without tables and columns that are not declared here.
   *
   * @throws WireError naming what is wrong; nothing is decoded in part.
   */
  read(content: Uint8Array, budget: Budget): Sections {
    const sections: Record<string, object> = this.nothing();
    const { said, data } = described(content, 'description', budget);
    const found = new Set<string>();
    let at = 0;
    for (const table of said.at('tables').list()) {
      const [nameOf, firstOf, nOf, specs] = table.tuple(4) as [Field, Field, Field, Field];
      const [name, first, n] = [nameOf.text(), firstOf.count(), nOf.count(LIMITS.rows)];
      const raw = new Map<string, Raw>();
      for (const spec of specs.list()) {
        const [column, kind, how] = spec.list();
        if (column === undefined || kind === undefined || raw.has(column.text())) {
          fail('another column', column?.value);
        }
        const end = at + n * (kind.value === 'f8' ? 8 : kind.value === 'text' ? 0 : kind.count(WIDEST));
        raw.set(column.text(), { kind: kind.value, how: how?.value, bytes: data.subarray(at, end) });
        at = end;
      }
      if (n === 0 || at > data.length || found.has(name)) {
        table.fail(`1 to ${LIMITS.rows} rows of another table, with all their bytes`);
      }
      found.add(name);
      const known = own(DECLARED, name);
      if (known !== undefined) {
        const next = this.#next.get(name) ?? 0;
        const follows = known.mode === 'append' ? first >= next : known.mode !== 'restart' || first === 0 || first === next;
        if (!follows) {
          firstOf.fail('after those before');
        }
        this.#next.set(name, first + n);
        const columns = Object.entries(known.columns).map(([column, declared]) => {
          budget.take(8 * n);
          return [camel(column), this.#column(`${name}.${column}`, declared, raw.get(column), n)];
        });
        sections[name] = { first, n, columns: Object.fromEntries(columns) as object };
      }
    }
    return at === data.length ? sections as unknown as Sections : fail('the end of a batch', data.length - at);
  }

  /** A column in seconds, within the bounds of its declaration, NaN or null where it is unknown. */
  #column(name: string, declared: string, raw: Raw | undefined, n: number): Numbers | Texts {
    const [kind = '', link = '', bound = ''] = declared.split(' ');
    const isOptional = kind.endsWith('?');
    if (raw === undefined) {
      return !isOptional ? fail(name, raw) : kind === 'text?' ? new Array<null>(n).fill(null) : new Float64Array(n).fill(NaN);
    }
    if (kind.startsWith('text')) {
      return raw.kind === 'text' && isTexts(raw.how, isOptional) && raw.how.length === n ? raw.how : fail(`texts of ${name}`, raw.how);
    }
    if (kind.startsWith('f')) {
      const floats = raw.kind === 'f8' ? new Float64Array(new Uint8Array(raw.bytes).buffer) : fail(`floats of ${name}`, raw.kind);
      return floats.some(value => !(Number.isFinite(value) || (isOptional && Number.isNaN(value)))) ? fail(`numbers of ${name}`, NaN) : floats;
    }
    const whole = typeof raw.kind === 'number' && isWhole(raw.how) ? wholeNumbers(raw.bytes, raw.kind, raw.how, n) : fail(`whole numbers of ${name}`, raw.how);
    const isTime = kind.startsWith('time');
    if (isTime || kind.startsWith('duration')) {
      // Times are after a zero of the recording's own, which is late on the clock of its recorder.
      return demand(inUnit(whole, isOptional, isTime ? -this.header.zeroS : 0, this.header.tickS), name, isTime ? -MAX_S : 0, MAX_S);
    }
    const values = isOptional && whole.includes(-1) ? inUnit(whole, true, 0, 1) : whole;
    const most = link === '<' ? Number(bound) : link === 'of' ? (this.#next.get(bound) ?? 0) : LIMITS.value + 1;
    return demand(values, name, link !== '' || isOptional ? 0 : -LIMITS.value, most);
  }
}

/** Most bytes of a whole number. */
const WIDEST = 7;

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= LIMITS.value;
}

function isTexts(value: unknown, isOptional: boolean): value is Texts {
  return Array.isArray(value) && value.every(text => typeof text === 'string' || (isOptional && text === null));
}

/** Numbers above a base: the lowest bytes of all, then the next ones. */
function wholeNumbers(bytes: Uint8Array, width: number, base: number, n: number): Numbers {
  const isSmall = base >= -(2 ** 31) && base + 256 ** width <= 2 ** 31;
  const values = (isSmall ? new Int32Array(n) : new Float64Array(n)).fill(base);
  for (let k = 0, at = 0; k < width; k += 1) {
    const scale = 256 ** k;
    for (let i = 0; i < n; i += 1, at += 1) {
      values[i] = (values[i] as number) + (bytes[at] as number) * scale;
    }
  }
  return values;
}

/** Numbers in a unit, after a zero; -1 is NaN where a number may be unknown. */
function inUnit(whole: Numbers, isOptional: boolean, zero: number, scale: number): Float64Array {
  const values = new Float64Array(whole.length);
  for (let i = 0; i < whole.length; i += 1) {
    const value = whole[i] as number;
    values[i] = isOptional && value === -1 ? NaN : zero + value * scale;
  }
  return values;
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
