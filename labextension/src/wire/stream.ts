/** The stream of frames that a page receives of one recorder, decoded message by message. */
import { Field, WireError } from './check';
import { BatchReader, readHeader } from './codec';
import { Budget, bytesOf, readFrame } from './frames';
import type { PageTables } from './schema';
import { PROTOCOL, TEXT_KEY } from './schema';

export type WireBuffer = ArrayBuffer | ArrayBufferView;

/**
 * One message. Its tables hold only rows that are new or have changed since the message before it; those of mode `whole`
 * hold all rows that there are.
 */
export interface Batch {
  readonly recorder: string;
  /** Which loading of taskscope in which kernel; ids and rows of another epoch mean something else. */
  readonly epoch: string;
  /** Number of the message in this page's stream, from 0. */
  readonly seq: number;
  readonly tables: PageTables;
}

const MAX_NAMES = 65_536;
/** Integers in a key. */
const MAX_DIMS = 8;

/** One stream of messages; a header within begins another one. */
export class PageStream {
  #reader: BatchReader | null = null;
  #stream = -1;
  #next = 0;

  /**
   * The batches of a message; null where a frame before it is missing, without which it cannot be read.
   *
   * @throws WireError naming what is wrong; nothing of the message is decoded then.
   */
  take(data: unknown, buffers: readonly WireBuffer[]): readonly Batch[] | null {
    const message = new Field(data, 'message');
    const protocol = message.at('protocol');
    if (protocol.value !== PROTOCOL) {
      protocol.fail(`${PROTOCOL}; reload the page after an upgrade of taskscope`);
    }
    message.at('kind').oneOf(['batch']);
    const [buffer] = buffers;
    if (buffer === undefined || buffers.length > 1) {
      throw new WireError('buffers', 'one buffer', buffers.length);
    }
    return this.read(bytesOf(buffer));
  }

  /** The batches of all frames in these bytes, which are not packed. */
  read(bytes: Uint8Array): readonly Batch[] | null {
    const budget = new Budget(bytes.length);
    const batches: Batch[] = [];
    for (let at = 0; at < bytes.length; ) {
      const frame = readFrame(bytes, at);
      if (frame === null || frame.isPacked) {
        throw new WireError('buffers', 'whole frames that are not packed', bytes.length);
      }
      at = frame.end;
      if (frame.kind === 'header') {
        this.#reader = new BatchReader(readHeader(frame.content));
        [this.#stream, this.#next] = [frame.stream, 0];
      } else if (this.#reader === null || frame.stream !== this.#stream || frame.number !== this.#next) {
        return null;
      } else {
        const { said } = this.#reader.header;
        const tables = checked(this.#reader.read(frame.content, budget));
        batches.push({ recorder: said.at('recorder').text(), epoch: said.at('epoch').text(), seq: frame.number - 1, tables });
      }
      this.#next += 1;
    }
    return batches;
  }
}

/** The tables of a page, which hold to what their declaration cannot express. */
function checked(tables: PageTables): PageTables {
  if (tables.state.n !== 1) {
    throw new WireError('batch', 'one with a row of state', tables.state.n);
  }
  for (const { first, n } of [tables.groups, tables.lanes, tables.sources]) {
    if (first + n > MAX_NAMES) {
      throw new WireError('batch', `at most ${MAX_NAMES} names`, first + n);
    }
  }
  const { dims } = tables.tasks.columns;
  for (let i = 0; i < dims.length; i += 1) {
    const n = dims[i] as number;
    if (n !== TEXT_KEY && !(n >= 0 && n <= MAX_DIMS)) {
      throw new WireError(`tasks.dims[${i}]`, `0 to ${MAX_DIMS}, or ${TEXT_KEY}`, n);
    }
  }
  return tables;
}
