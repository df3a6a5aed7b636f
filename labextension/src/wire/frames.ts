/**
 * The frames of everything that taskscope writes: `taskscope/codec.py` says what is in them.
 *
 * A length is checked before anything is taken, and what is to be allocated is charged to a budget before it is.
 */
import { Field, WireError } from './check';
import { crc32 } from './crc';
import { FORMAT, LIMITS } from './tables';

const MAGIC = 0x4b535489;
export const HEAD_BYTES = 32;
const KINDS = ['header', 'batch', 'end'] as const;

/** @throws WireError */
export function fail(expected: string, got: unknown): never {
  throw new WireError('frame', expected, got);
}

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
  const isFit = packed === 1 ? stored <= unpacked : packed === 0 && stored === unpacked;
  if (name === undefined || reserved !== 0 || !isFit || unpacked > LIMITS.frame) {
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

/** Bytes that came in a buffer. */
export function bytesOf(buffer: unknown): Uint8Array {
  if (ArrayBuffer.isView(buffer)) {
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }
  // Another realm's ArrayBuffer is no instance of this one's.
  if (Object.prototype.toString.call(buffer) === '[object ArrayBuffer]') {
    return new Uint8Array(buffer as ArrayBuffer);
  }
  throw new WireError('buffers', 'an ArrayBuffer or a view of one', buffer);
}

/** @throws WireError, or DOMException where it is a text but no base64. */
export function bytesOfBase64(text: unknown, path: string): Uint8Array<ArrayBuffer> {
  const binary = atob(typeof text === 'string' ? text : new Field(text, path).fail('base64'));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

/** What may yet be allocated for what somebody else wrote. */
export class Budget {
  /** @param size how many bytes were given */
  constructor(size: number, private left = 64 * 2 ** 20 + 256 * size) {}

  take(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) {
      fail('less than its size justifies', 'more');
    }
  }
}
