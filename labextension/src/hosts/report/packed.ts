/** Bytes of a page: deflated, in base64. */
import { WireError, inflate } from '../../wire';

/** Rejects with a WireError or TypeError where it is damaged, or does not make `nBytes`. */
export async function unpack(base64: unknown, nBytes: unknown, path: string): Promise<Uint8Array> {
  const size = wholeNumber(nBytes, `${path}.bytes`);
  return inflate(bytesOf(base64, `${path}.data`), size);
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
