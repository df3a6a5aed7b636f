/** Bytes of a page: deflated, in base64. */
import { WireError } from '../../wire';

/** Rejects with a WireError or TypeError where it is damaged, or does not make `nBytes`. */
export async function unpack(base64: unknown, nBytes: unknown, path: string): Promise<Uint8Array> {
  const size = wholeNumber(nBytes, `${path}.bytes`);
  return inflate(bytesOf(base64, `${path}.data`), size, `${path}.data`);
}

/** @throws WireError where it is none, or negative. */
export function wholeNumber(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new WireError(path, 'a whole number, 0 or more', value);
  }
  return value as number;
}

function bytesOf(base64: unknown, path: string): Uint8Array<ArrayBuffer> {
  if (typeof base64 !== 'string') {
    throw new WireError(path, 'base64', base64);
  }
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

async function inflate(packed: Uint8Array<ArrayBuffer>, nBytes: number, path: string): Promise<Uint8Array> {
  const stream = new DecompressionStream('deflate');
  const writer = stream.writable.getWriter();
  // What goes wrong here goes wrong in reading, too, where it is awaited.
  writer.write(packed).catch(() => undefined);
  writer.close().catch(() => undefined);
  const unpacked = new Uint8Array(nBytes);
  const reader = stream.readable.getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    unpacked.set(part.value, at);
    at += part.value.length;
  }
  if (at !== nBytes) {
    throw new WireError(path, `${nBytes} bytes unpacked`, at);
  }
  return unpacked;
}
