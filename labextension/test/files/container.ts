/** Files made frame by frame, to say what no writer says. */
import { deflateSync } from 'node:zlib';

import { TABLES } from '../../src/files/tables';
import { type FrameHead, type TableRows, batchBytes, frame, headerOf, joined } from '../wire/frames';

/** The content of a frame, and what its head says other than it would. */
export type Written = Partial<FrameHead> & { readonly content: Uint8Array };

const HEADER = headerOf({ recorder: undefined, epoch: undefined, made_by: 'test', started_at: '2026-01-02T03:04:05+00:00', zero_s: 100, grows: false });

/** A header that says these things besides, or instead. */
export function header(said: Record<string, unknown> = {}): Written {
  return { kind: 0, content: Buffer.from(JSON.stringify({ ...HEADER, ...said })) };
}

/** A batch of tables, times in ticks; how things stand is in it. */
export function batch(tables: TableRows = {}, kind = 1): Written {
  const state = { columns: { now_s: [1_100_000_000], active: [0], final: [0], n_tasks: [0], n_dropped: [0], n_activities_dropped: [0], n_cores: [null], limit_bytes: [null], cache_unknown: [0] } };
  return { kind, content: Uint8Array.from(batchBytes({ state, ...tables }, TABLES)) };
}

export const END = batch({}, 2);

/** The bytes of a file of these frames. */
export function fileOf(frames: readonly Written[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(joined(frames.map(({ content, ...head }, number) => {
    const stored = deflateSync(content);
    const isPacked = stored.length < content.length;
    return frame(isPacked ? stored : content, { kind: 1, number, packed: Number(isPacked), unpacked: content.length, ...head });
  })));
}
