/** Messages as the kernel would send them, written by hand. */

import { HELD_BUFFERS, RESOURCE_BUFFERS } from '../../src/wire';

export interface FixtureRow {
  lane?: number;
  status?: number;
  scheduler?: boolean;
  group?: number;
  stopUs?: number;
  durationS?: number;
  share?: number;
  size?: number;
  key?: number[] | string;
  error?: string;
}

export interface WireMessage {
  message: Record<string, unknown>;
  buffers: ArrayBuffer[];
}

/** A message with these rows; `message` replaces fields. */
export function wireMessage(rows: FixtureRow[], message: Record<string, unknown> = {}): WireMessage {
  const texts = rows.flatMap(row => (typeof row.key === 'string' ? [new TextEncoder().encode(row.key)] : []));
  const ints = rows.flatMap(row => (typeof row.key === 'string' ? [] : (row.key ?? [])));
  const errors = [...new Set(rows.flatMap(row => row.error ?? []))];
  const code = (row: FixtureRow): number =>
    (row.lane ?? 0) | ((row.status ?? 0) << 13) | (row.scheduler === true ? 0x8000 : 0);
  return {
    message: {
      protocol: 1, kind: 'batch', recorder: 'rec', epoch: 'rec-1', seq: 0, now_s: 10, active: true, final: false,
      first: 0, count: rows.length, cursor: rows.length, dropped: 0, base_s: 1,
      task_runs: rows.length === 0 ? [] : [[0, rows.length]],
      errors,
      groups: [[0, 'sum-1a', 'sum'], [1, "it's", "it's"]],
      lanes: [[0, 'main', 11, 'thread 1'], [1, 'main', 12, 'thread 2']],
      runs: [{
        run: 0, label: 'qr', cell: null, execution_count: 3, source_crc: 7, scheduler: 'threads', n_workers: 2, n_tasks: 4,
        start_s: 0.5, stop_s: null, status: 'running', error: null
      }],
      progress: [[0, 'sum', 4, 2, 1, 1, 0, 3, 5, 0.75, [1.5, 5, false, 1, 2, 1]]],
      estimates: [[0, 12.5, 11, 15, 3]],
      running: [[0, null, 1, 'x', 5.5]],
      messages: [[0.5, 'info', 'hello']],
      resources: { first: 0, count: 0, dropped: 0, n_cores: null, limit_bytes: null },
      held: { first: 0, count: 0, dropped: 0, base_s: 0, runs: [], unknown: false },
      ...message
    },
    buffers: [
      Uint16Array.from(rows, code).buffer,
      Uint16Array.from(rows, row => row.group ?? 0).buffer,
      Uint32Array.from(rows, row => row.stopUs ?? 0).buffer,
      Float32Array.from(rows, row => row.durationS ?? 0).buffer,
      Uint16Array.from(rows, row => row.share ?? 65535).buffer,
      Uint16Array.from(rows, row => row.size ?? 65535).buffer,
      Uint8Array.from(rows, row => (typeof row.key === 'string' ? 255 : (row.key ?? []).length)).buffer,
      Int32Array.from(ints).buffer,
      Uint16Array.from(texts, text => text.length).buffer,
      Uint8Array.from(texts.flatMap(text => [...text])).buffer,
      Uint16Array.from(
        rows.filter(row => (row.status ?? 0) !== 0),
        row => (row.error === undefined ? 65535 : errors.indexOf(row.error))
      ).buffer,
      ...[...RESOURCE_BUFFERS, ...HELD_BUFFERS].map(() => new ArrayBuffer(0))
    ]
  };
}
