/** Files made frame by frame, to say what no writer says. */
import { deflateSync } from 'node:zlib';

import { crc32 } from '../../src/wire/frames';
import { VERSION } from '../../src/files/frames';

export interface Written {
  readonly kind: string;
  readonly content: Uint8Array;
  /** What the frame claims to unpack to, if not what it does. */
  readonly claims?: number;
}

export const json = (kind: string, value: unknown): Written => ({ kind, content: Buffer.from(JSON.stringify(value)) });

export const HEAD = json('HEAD', { started_at: '2026-01-02T03:04:05+00:00', zero_s: 100, metadata: {}, streamed: false, n_rows: 0 });
export const LAST = json('LAST', { now_s: 110, dropped: 0 });

/** The bytes of a file of these frames. */
export function fileOf(frames: readonly Written[], version = VERSION): Uint8Array<ArrayBuffer> {
  const prefix = Buffer.from([0x89, 0x74, 0x73, 0x6b, 0x73, 0x63, 0x70, 0x0a, version, 0, 0, 0]);
  const parts = frames.map(({ kind, content, claims = content.length }, number) => {
    const stored = deflateSync(content);
    const header = Buffer.alloc(24);
    header.write(kind, 'ascii');
    [number, stored.length, claims, crc32(stored)].forEach((value, i) => header.writeUInt32LE(value, 4 + 4 * i));
    header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
    return Buffer.concat([header, stored]);
  });
  return new Uint8Array(Buffer.concat([prefix, ...parts]));
}
