/** The stream of frames that a page receives of one recorder, decoded message by message. */
import { Field, WireError } from './check';
import { BatchReader, readHeader } from './codec';
import { type Frame, Budget, bytesOf, readFrame } from './frames';
import { Keys, limited } from './keys';
import type { PageTables } from './schema';
import { PROTOCOL } from './schema';

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

/** One stream of messages; a header within begins another one. */
export class PageStream {
  #reader: BatchReader | null = null;
  #keys = new Keys();
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
      const batch = this.frame(frame, frame.content, budget);
      if (batch === null) {
        return null;
      }
      if (batch !== 'header') {
        batches.push(batch);
      }
    }
    return batches;
  }

  /** The batch of a frame with this content, which is not packed; null where a frame before it is missing. */
  frame(frame: Pick<Frame, 'kind' | 'stream' | 'number'>, content: Uint8Array, budget: Budget): Batch | 'header' | null {
    if (frame.kind === 'header') {
      this.#reader = new BatchReader(readHeader(content));
      this.#keys = new Keys();
      [this.#stream, this.#next] = [frame.stream, 1];
      return 'header';
    }
    if (this.#reader === null || frame.stream !== this.#stream || frame.number !== this.#next) {
      return null;
    }
    this.#next += 1;
    const { said } = this.#reader.header;
    const tables = limited(this.#keys.joined(this.#reader.read(content, budget)));
    if (tables.state.n !== 1) {
      throw new WireError('batch', 'one with a row of state', tables.state.n);
    }
    return { recorder: said.at('recorder').text(), epoch: said.at('epoch').text(), seq: frame.number - 1, tables };
  }

  /** The text of a key, by its row. */
  keyText(row: number): string {
    return this.#keys.text(row);
  }
}
