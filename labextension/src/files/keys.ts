/** Many keys: a group and integers where a key is a tuple, else text. */
import type { KeyColumns } from '../wire';
import { TEXT_KEY } from '../wire';
import { DamagedFileError, demand } from './errors';
import { joined } from './pack';
import type { Column } from './schema';

/** Longest text of a key that is shown, in characters; what is longer is cut and ends in an ellipsis. */
const MAX_TEXT = 512;
/** Integers of a key that is a name and integers. */
const MAX_KEY_DIMS = 200;

export class KeyBlock {
  constructor(
    /** How many integers follow the group's name, or TEXT_KEY. */
    readonly dims: Uint8Array,
    readonly ints: Int32Array,
    /** Bytes of each text, and all texts as UTF-8. */
    readonly textBytes: Uint32Array,
    readonly texts: Uint8Array
  ) {}

  get length(): number {
    return this.dims.length;
  }

  /** The keys of a frame. */
  static of(columns: ReadonlyMap<string, Column>): KeyBlock {
    const [dims, ints, textBytes, texts] = [
      columns.get('dims'), columns.get('ints'), columns.get('text_bytes'), columns.get('texts')
    ];
    demand(
      dims instanceof Uint8Array && ints instanceof Int32Array && textBytes instanceof Uint32Array && texts instanceof Uint8Array,
      'keys have all columns'
    );
    return new KeyBlock(dims, ints, textBytes, texts);
  }

  static concat(blocks: readonly KeyBlock[]): KeyBlock {
    return new KeyBlock(
      joined(blocks.map(b => b.dims), new Uint8Array()),
      joined(blocks.map(b => b.ints), new Int32Array()),
      joined(blocks.map(b => b.textBytes), new Uint32Array()),
      joined(blocks.map(b => b.texts), new Uint8Array())
    );
  }

  /** Throws DamagedFileError unless the parts fit each other and texts are texts. */
  check(): void {
    let nInts = 0;
    let nTexts = 0;
    for (const n of this.dims) {
      demand(n === TEXT_KEY || n <= MAX_KEY_DIMS, `a key has at most ${MAX_KEY_DIMS} integers`);
      nInts += n === TEXT_KEY ? 0 : n;
      nTexts += n === TEXT_KEY ? 1 : 0;
    }
    demand(nInts === this.ints.length, 'every integer belongs to a key');
    demand(nTexts === this.textBytes.length, 'every text belongs to a key');
    demand(this.textBytes.reduce((sum, n) => sum + n, 0) === this.texts.length, 'texts of keys are there');
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let at = 0;
    try {
      for (const n of this.textBytes) {
        decoder.decode(this.texts.subarray(at, at + n));
        at += n;
      }
    } catch {
      throw new DamagedFileError('the text of a key is no text');
    }
  }

  /** The keys of these rows, in this order. */
  take(rows: ArrayLike<number>): KeyBlock {
    const { intStart, textPlace, textStart } = this.#places();
    const dims = Uint8Array.from(rows, row => this.dims[row] as number);
    const ints = new Int32Array(dims.reduce((n, d) => n + (d === TEXT_KEY ? 0 : d), 0));
    const textBytes: number[] = [];
    const texts: Uint8Array[] = [];
    let at = 0;
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i] as number;
      const n = dims[i] as number;
      if (n === TEXT_KEY) {
        const place = textPlace[row] as number;
        const [from, bytes] = [textStart[place] as number, this.textBytes[place] as number];
        textBytes.push(bytes);
        texts.push(this.texts.subarray(from, from + bytes));
      } else {
        const from = intStart[row] as number;
        for (let k = 0; k < n; k += 1) {
          ints[at + k] = this.ints[from + k] as number;
        }
        at += n;
      }
    }
    return new KeyBlock(dims, ints, Uint32Array.from(textBytes), joined(texts, new Uint8Array()));
  }

  /** The same as the wire has them, texts cut to what is shown. */
  columns(): KeyColumns {
    const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
    const cut: Uint8Array[] = [];
    let at = 0;
    for (const n of this.textBytes) {
      const bytes = this.texts.subarray(at, at + n);
      cut.push(n <= MAX_TEXT ? bytes : encoder.encode(shortened(decoder.decode(bytes))));
      at += n;
    }
    const lengths = Uint16Array.from(cut, bytes => bytes.length);
    return { dims: this.dims, ints: this.ints, lengths, text: joined(cut, new Uint8Array()) };
  }

  #places(): { intStart: Uint32Array; textPlace: Uint32Array; textStart: Uint32Array } {
    const intStart = new Uint32Array(this.length);
    const textPlace = new Uint32Array(this.length);
    let [int, text] = [0, 0];
    for (let row = 0; row < this.length; row += 1) {
      intStart[row] = int;
      textPlace[row] = text;
      const n = this.dims[row] as number;
      text += n === TEXT_KEY ? 1 : 0;
      int += n === TEXT_KEY ? 0 : n;
    }
    let byte = 0;
    const textStart = Uint32Array.from(this.textBytes, n => (byte += n) - n);
    return { intStart, textPlace, textStart };
  }
}

/** Text as the wire has it: whole characters, at most 512 of them. */
export function shortened(text: string): string {
  if (text.length <= MAX_TEXT) {
    return text;
  }
  const characters = Array.from(text);
  return characters.length <= MAX_TEXT ? text : `${characters.slice(0, MAX_TEXT).join('')}…`;
}
