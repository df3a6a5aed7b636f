/** The keys of all rows, kept as the columns they came in; text is made when somebody asks. */
import type { Columns, Numbers } from '../../wire';
import { TEXT_KEY, tupleKey } from '../../wire';
import { roomFor, withoutFirst } from '../columns';

/** Rows between two places where the way into the other columns is written down. */
const STRIDE = 256;

/** Keys as a page receives them: row `i` has `dims[i]` integers, or a text where that is TEXT_KEY. */
export type KeyColumns = Pick<Columns<'keys'>, 'dims' | 'keyText' | `i${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}`>;

interface Place {
  readonly int: number;
  readonly length: number;
  readonly byte: number;
}

const NOWHERE: Place = { int: 0, length: 0, byte: 0 };

export class KeyTable {
  /** Rows that were dropped, a multiple of STRIDE; everything below counts from there. */
  #first = 0;
  #n = 0;
  #dims = new Uint8Array(0);
  #ints = new Int32Array(0);
  #lengths = new Uint16Array(0);
  #text = new Uint8Array(0);
  /** Rows, ints, texts and bytes so far. */
  #end = NOWHERE;
  #marks: Place[] = [];
  /** Where the row that was asked for last begins: the next one is often close behind. */
  #last = { row: -1, place: NOWHERE };
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();

  /** Rows that ever came. */
  get length(): number {
    return this.#first + this.#n;
  }

  /** Forget the keys before a row, but for a few. */
  drop(row: number): void {
    const count = Math.floor((row - this.#first) / STRIDE);
    if (count <= 0) {
      return;
    }
    const gone = this.#marks[count] ?? this.#end;
    const { int, length, byte } = gone;
    this.#dims = withoutFirst(this.#dims, Math.min(count * STRIDE, this.#n), this.#n);
    this.#ints = withoutFirst(this.#ints, int, this.#end.int);
    this.#lengths = withoutFirst(this.#lengths, length, this.#end.length);
    this.#text = withoutFirst(this.#text, byte, this.#end.byte);
    this.#last = { row: -1, place: NOWHERE };
    this.#marks = this.#marks.slice(count).map(mark => minus(mark, gone));
    this.#end = minus(this.#end, gone);
    this.#n -= count * STRIDE;
    this.#first += count * STRIDE;
  }

  /** Append all rows but the first `skip`. */
  append({ dims, keyText, i0, i1, i2, i3, i4, i5, i6, i7 }: KeyColumns, skip: number): void {
    const columns = [i0, i1, i2, i3, i4, i5, i6, i7];
    const n = Math.max(dims.length - skip, 0);
    let nInts = 0;
    for (let i = skip; i < dims.length; i += 1) {
      nInts += dims[i] === TEXT_KEY ? 0 : (dims[i] as number);
    }
    const ownDims = (this.#dims = roomFor(this.#dims, this.#n + n));
    const ints = (this.#ints = roomFor(this.#ints, this.#end.int + nInts));
    let { int, length, byte } = this.#end;
    for (let i = skip, at = this.#n; i < dims.length; i += 1, at += 1) {
      const kind = dims[i] as number;
      ownDims[at] = kind;
      if (kind === TEXT_KEY) {
        const text = this.#encoder.encode(keyText[i] ?? '');
        this.#lengths = roomFor(this.#lengths, length + 1);
        this.#lengths[length] = text.length;
        length += 1;
        this.#text = roomFor(this.#text, byte + text.length);
        this.#text.set(text, byte);
        byte += text.length;
        continue;
      }
      for (let k = 0; k < kind; k += 1, int += 1) {
        ints[int] = (columns[k] as Numbers)[i] as number;
      }
    }
    this.#mark(this.#n + n);
  }

  text(row: number, groupName: string): string {
    const parts = this.parts(row);
    return typeof parts === 'string' ? parts : tupleKey(groupName, parts);
  }

  isText(row: number): boolean {
    return this.#dims[row - this.#first] === TEXT_KEY;
  }

  /** The integers that follow the group's name in the key of a row, or the key itself where it is text. */
  parts(absolute: number): string | readonly number[] {
    const row = absolute - this.#first;
    const at = this.#at(row);
    const dims = this.#dims[row] ?? 0;
    if (dims !== TEXT_KEY) {
      return [...this.#ints.subarray(at.int, at.int + dims)];
    }
    const length = this.#lengths[at.length] ?? 0;
    return this.#decoder.decode(this.#text.subarray(at.byte, at.byte + length));
  }

  #at(row: number): Place {
    const first = row - (row % STRIDE);
    const { row: last, place } = this.#last;
    const isNear = last >= first && last <= row;
    const from = isNear ? place : (this.#marks[first / STRIDE] ?? NOWHERE);
    const at = walk(this.#dims, this.#lengths, isNear ? last : first, row, from);
    this.#last = { row, place: at };
    return at;
  }

  #mark(n: number): void {
    while (this.#n < n) {
      if (this.#n % STRIDE === 0) {
        this.#marks.push({ ...this.#end });
      }
      const next = Math.min(n, this.#n - (this.#n % STRIDE) + STRIDE);
      this.#end = walk(this.#dims, this.#lengths, this.#n, next, this.#end);
      this.#n = next;
    }
  }
}

function minus(place: Place, start: Place): Place {
  return { int: place.int - start.int, length: place.length - start.length, byte: place.byte - start.byte };
}

/** Where row `to` begins in the other columns, if row `from` begins at `place`. */
function walk(dims: Uint8Array, lengths: Uint16Array, from: number, to: number, place: Place): Place {
  let { int, length, byte } = place;
  for (let row = from; row < to; row += 1) {
    const n = dims[row] as number;
    if (n === TEXT_KEY) {
      byte += lengths[length] as number;
      length += 1;
    } else {
      int += n;
    }
  }
  return { int, length, byte };
}
