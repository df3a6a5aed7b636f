/**
 * The container of a `.taskscope` file, as `taskscope/export/frames.py` describes and writes it: numbered,
 * checksummed, compressed frames after a signature.
 */
import { crc32 } from '../wire/frames';
import { CutOffError, DamagedFileError } from './errors';

export const VERSION = 2;
/** Most bytes that a frame may unpack to. */
export const MAX_FRAME_BYTES = 64 * 2 ** 20;

const SIGNATURE = [0x89, 0x74, 0x73, 0x6b, 0x73, 0x63, 0x70, 0x0a];
const PREFIX_BYTES = 12;
const HEADER_BYTES = 20;
const LAST = 'LAST';
// zlib never grows what it stores by more than this, so a larger claim is no frame of ours.
const MAX_STORED_BYTES = MAX_FRAME_BYTES + MAX_FRAME_BYTES / 1024 + 64;

export interface Frame {
  readonly kind: string;
  readonly content: Uint8Array;
}

interface StoredFrame {
  readonly kind: string;
  readonly stored: Uint8Array<ArrayBuffer>;
  readonly nBytes: number;
}

/**
 * Yield every frame in order; nothing is yielded that was not checked, and nothing unpacked whose claimed sizes
 * add up to more than `maxBytes`.
 *
 * Throws CutOffError where the file ends early, DamagedFileError where it is not one of ours, of a newer version or damaged.
 */
export async function* readFrames(file: Uint8Array<ArrayBuffer>, maxBytes: number): AsyncGenerator<Frame> {
  checkPrefix(file);
  let at = PREFIX_BYTES;
  let left = maxBytes;
  let kind = '';
  for (let number = 0; kind !== LAST; number += 1) {
    const frame = frameAt(file, at, number);
    left -= frame.nBytes;
    if (left < 0) {
      throw new DamagedFileError(`it unpacks to more than ${maxBytes.toLocaleString('en')} bytes`);
    }
    yield { kind: frame.kind, content: await unpack(frame, number) };
    at += HEADER_BYTES + 4 + frame.stored.length;
    kind = frame.kind;
  }
  if (at < file.length) {
    throw new DamagedFileError('there is something after its end');
  }
}

function checkPrefix(file: Uint8Array): void {
  if (file.length === 0 || SIGNATURE.some((byte, i) => i < file.length && file[i] !== byte)) {
    throw new DamagedFileError('it is not a recording of taskscope');
  }
  if (file.length < PREFIX_BYTES) {
    throw new CutOffError('it ends within its first bytes');
  }
  const view = new DataView(file.buffer, file.byteOffset, PREFIX_BYTES);
  const [version, reserved] = [view.getUint16(8, true), view.getUint16(10, true)];
  if (version < 1 || version > VERSION || reserved !== 0) {
    throw new DamagedFileError(
      `it has version ${version}.${reserved} of the format and this taskscope reads up to ${VERSION}.0; a newer taskscope may read it`
    );
  }
}

function frameAt(file: Uint8Array<ArrayBuffer>, at: number, number: number): StoredFrame {
  if (file.length < at + HEADER_BYTES + 4) {
    throw new CutOffError(`it ends before part ${number + 1} is complete`);
  }
  const header = file.subarray(at, at + HEADER_BYTES);
  const view = new DataView(file.buffer, file.byteOffset + at, HEADER_BYTES + 4);
  const u32 = (offset: number): number => view.getUint32(offset, true);
  if (crc32(header) !== u32(HEADER_BYTES) || u32(4) !== number) {
    throw new DamagedFileError(`the header of part ${number + 1} is damaged`);
  }
  const [nStored, nBytes] = [u32(8), u32(12)];
  if (nBytes > MAX_FRAME_BYTES || nStored > MAX_STORED_BYTES) {
    const most = MAX_FRAME_BYTES.toLocaleString('en');
    throw new DamagedFileError(`part ${number + 1} claims ${nBytes.toLocaleString('en')} bytes, more than ${most}`);
  }
  const first = at + HEADER_BYTES + 4;
  const stored = file.subarray(first, first + nStored);
  if (stored.length < nStored) {
    throw new CutOffError(`it ends within part ${number + 1}`);
  }
  if (crc32(stored) !== u32(16)) {
    throw new DamagedFileError(`part ${number + 1} is damaged`);
  }
  return { kind: String.fromCharCode(...header.subarray(0, 4)), stored, nBytes };
}

async function unpack({ stored, nBytes }: StoredFrame, number: number): Promise<Uint8Array> {
  const content = new Uint8Array(nBytes);
  const stream = new DecompressionStream('deflate');
  const writer = stream.writable.getWriter();
  // What goes wrong here goes wrong in reading, too, where it is awaited.
  writer.write(stored).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = stream.readable.getReader();
  let at = 0;
  try {
    for (let part = await reader.read(); !part.done && at <= nBytes; part = await reader.read()) {
      content.set(part.value.subarray(0, Math.max(nBytes - at, 0)), at);
      at += part.value.length;
    }
  } catch (error) {
    throw new DamagedFileError(`part ${number + 1} cannot be unpacked: ${String(error)}`);
  }
  if (at !== nBytes) {
    await reader.cancel().catch(() => undefined);
    throw new DamagedFileError(`part ${number + 1} does not unpack to the ${nBytes.toLocaleString('en')} bytes it claims`);
  }
  return content;
}
