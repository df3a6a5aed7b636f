/** Keys and errors of one stream, and the tasks that refer to them. */
import { HIDDEN, escapeCharacter } from '../lib/format';
import { firstPlace } from '../lib/search';
import { WireError } from './check';
import type { Columns, Numbers, Section, Sections } from './codec';
import type { PageTables } from './schema';
import { TEXT_KEY } from './schema';

/** Integers in a key. */
const MAX_DIMS = 8;

type Cells = Numbers | readonly (string | null)[];
type KeyColumns = Columns<'keys'>;

/** The rows of `keys` and `errors` that a stream has brought. */
export class Keys {
  #parts: Section<'keys'>[] = [];
  #errors: readonly string[] = [];
  readonly #groups: string[] = [];

  /** The tables of a batch: tasks have the columns of their keys, and `errors` all rows that tasks refer to. */
  joined(sections: Sections): PageTables {
    const { groups, keys, errors, tasks, running } = sections;
    groups.columns.name.forEach(name => this.#groups.push(name));
    if (errors.n > 0) {
      this.#errors = [...this.#errors.slice(0, errors.first), ...errors.columns.text];
    }
    if (keys.n > 0) {
      this.#add(keys);
    }
    const keyText = Array.from(running.columns.key, row => this.text(row));
    return {
      ...sections,
      errors: { first: 0, n: this.#errors.length, columns: { text: [...this.#errors] } },
      tasks: { ...tasks, columns: { ...this.#of(tasks.columns.key, keys.columns), ...tasks.columns } },
      running: { ...running, columns: { ...this.#of(running.columns.key, keys.columns), ...running.columns, keyText } }
    };
  }

  /** A key as the person wrote it. */
  text(row: number): string {
    const { first, columns: { dims, group, keyText, i0, i1, i2, i3, i4, i5, i6, i7 } } = this.#part(this.#partOf(row));
    const at = row - first;
    const n = dims[at] as number;
    const ints = [i0, i1, i2, i3, i4, i5, i6, i7].slice(0, n).map(column => column[at] as number);
    return n === TEXT_KEY ? (keyText[at] ?? '') : tupleKey(this.#groups[group[at] as number] ?? '?', ints);
  }

  #add(keys: Section<'keys'>): void {
    const { dims, keyText } = keys.columns;
    for (let i = 0; i < keys.n; i += 1) {
      const n = dims[i] as number;
      if (n === TEXT_KEY ? keyText[i] === null : n < 0 || n > MAX_DIMS) {
        throw new WireError(`keys.dims[${i}]`, `0 to ${MAX_DIMS}, or ${TEXT_KEY} with a text`, n);
      }
    }
    this.#parts = keys.first === 0 ? [keys] : [...this.#parts, keys];
  }

  #part(number: number): Section<'keys'> {
    return this.#parts[number] as Section<'keys'>;
  }

  /** The number of the part that has a row, which the decoder has checked to be there. */
  #partOf(row: number): number {
    return firstPlace(0, this.#parts.length, number => this.#part(number).first > row) - 1;
  }

  /** The columns of these rows, in this order. */
  #of(rows: Numbers, none: KeyColumns): KeyColumns {
    const last = this.#parts.at(-1);
    if (last === undefined || rows.length === 0) {
      return each(none, cells => cells.slice(0, 0));
    }
    if (rows.every((row: number, i: number) => row === last.first + i)) {
      // On a page tasks and their keys are in the same order.
      return each(last.columns, cells => cells.slice(0, rows.length));
    }
    const [parts, places] = [new Uint32Array(rows.length), new Uint32Array(rows.length)];
    let number = this.#parts.length - 1;
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i] as number;
      if (row < this.#part(number).first || row >= this.#part(number).first + this.#part(number).n) {
        number = this.#partOf(row);
      }
      parts[i] = number;
      places[i] = row - this.#part(number).first;
    }
    return each(last.columns, (_, name) => picked(this.#parts.map(({ columns }) => columns[name]), parts, places));
  }
}

function each(columns: KeyColumns, of: (cells: Cells, name: keyof KeyColumns) => Cells): KeyColumns {
  const entries = Object.entries<Cells>(columns) as [keyof KeyColumns, Cells][];
  return Object.fromEntries(entries.map(([name, cells]) => [name, of(cells, name)])) as unknown as KeyColumns;
}

/** Value `i` is that of place `places[i]` of part `parts[i]`. */
function picked(columns: readonly Cells[], parts: Uint32Array, places: Uint32Array): Cells {
  if (Array.isArray(columns[0])) {
    return Array.from(places, (place, i) => (columns[parts[i] as number]?.[place] ?? null) as string | null);
  }
  const Typed = columns.every(cells => cells instanceof Int32Array) ? Int32Array : Float64Array;
  const found = new Typed(places.length);
  for (let i = 0; i < places.length; i += 1) {
    found[i] = (columns[parts[i] as number] as Numbers)[places[i] as number] as number;
  }
  return found;
}

/** As many groups, lanes and sources as a store has numbers for; all further ones are the last of these. */
const LAST_GROUP = 65_535;
const LAST_LANE = 8_191;
const LAST_SOURCE = 65_534;
const FURTHER = 'further groups';

/** The tables with at most so many names, which rows refer to. */
export function limited(tables: PageTables): PageTables {
  const { groups, lanes, sources, tasks, running, activities, cache } = tables;
  const column = <C extends object>(columns: C, name: keyof C, most: number): C => {
    const values = columns[name] as Numbers;
    return values.some((value: number) => value > most) ? { ...columns, [name]: values.map((value: number) => Math.min(value, most)) } : columns;
  };
  const rows = <S extends { readonly columns: { readonly group: Numbers } }>(section: S): S => ({ ...section, columns: column(section.columns, 'group', LAST_GROUP) });
  const inLanes = <S extends { readonly columns: { readonly lane: Numbers } }>(section: S): S => ({ ...section, columns: column(section.columns, 'lane', LAST_LANE) });
  const few = upTo(groups, LAST_GROUP);
  const names = <T extends string | null>(of: readonly T[]): (T | string)[] => of.map((name, i) => (few.first + i === LAST_GROUP ? FURTHER : name));
  return {
    ...tables,
    groups: few.n < groups.n ? { ...few, columns: { ...few.columns, name: names(few.columns.name), prefix: names(few.columns.prefix) } } : few,
    lanes: upTo(lanes, LAST_LANE),
    sources: upTo(sources, LAST_SOURCE),
    tasks: inLanes(rows(tasks)),
    running: inLanes(rows(running)),
    activities: inLanes(rows({ ...activities, columns: column(activities.columns, 'source', LAST_SOURCE) })),
    cache: rows(cache)
  };
}

/** The rows of a section up to the one with this number. */
function upTo<T extends 'groups' | 'lanes' | 'sources'>(section: Section<T>, last: number): Section<T> {
  const n = Math.max(Math.min(section.n, last + 1 - section.first), 0);
  const columns = Object.fromEntries(Object.entries<Cells>(section.columns as Record<string, Cells>).map(([name, cells]) => [name, cells.slice(0, n)]));
  return n === section.n ? section : { ...section, n, columns: columns as unknown as Columns<T> };
}

/** Python's `repr` of the tuple of a group's name and some integers. */
export function tupleKey(name: string, ints: readonly number[]): string {
  const rest = ints.length === 0 ? ',' : `, ${ints.join(', ')}`;
  return `(${pythonRepr(name)}${rest})`;
}

const UNPRINTABLE = new RegExp(`[${HIDDEN}]|(?! )\\p{Zs}`, 'gu');

/** Python's `repr` of a string. */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text
    .replace(/\\/g, '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replace(UNPRINTABLE, escapeCharacter);
  return quote + inner + quote;
}
