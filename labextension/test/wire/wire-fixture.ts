/** Messages as the kernel would send them, written by hand. */
import { type TableRows, type Values, batchBytes, frame, headerFrame, headerOf, joined } from './frames';

export interface FixtureRow {
  run?: number;
  lane?: number;
  status?: number;
  scheduler?: boolean;
  group?: number;
  stopUs?: number;
  durationS?: number;
  cpuS?: number;
  nbytes?: number;
  key?: number[] | string;
  error?: string;
}

export interface WireMessage {
  message: Record<string, unknown>;
  buffers: ArrayBuffer[];
}

type Rows = readonly Readonly<Record<string, number | string | null>>[];

export interface FixtureBatch {
  recorder?: string;
  epoch?: string;
  stream?: number;
  seq?: number;
  first?: number;
  cursor?: number;
  dropped?: number;
  nowS?: number;
  active?: boolean;
  /** Rows of other tables; those that are here by default come with the first message only. */
  tables?: Record<string, Rows>;
  /** What the message says besides its buffer. */
  message?: Record<string, unknown>;
}

const SECOND = 1e7;

export const RUN = {
  run: 0, label: 'qr', cell: null, scheduler: 'threads', n_workers: 2, n_tasks: 4, start_s: SECOND / 2, stop_s: null, status: 0, error: null,
  execution_count: 3, source_crc: 7, n_runs: 1, metric: null
};
export const PROGRESS = {
  run: 0, prefix: 'sum', total: 4, finished: 2, erred: 1, running: 1, interrupted: 0, duration_s: 0.75 * SECOND, skipped: 3, released: 0, again: 5,
  scheduled_s: 1.5 * SECOND, asked: 5, is_all: 0, queued: 1, waiting: 2, no_worker: 1
};
export const TABLES: Record<string, Rows> = {
  groups: [{ name: 'sum-1a', prefix: 'sum' }, { name: "it's", prefix: "it's" }],
  lanes: [{ worker: 'main', thread: 11, label: 'thread 1' }, { worker: 'main', thread: 12, label: 'thread 2' }],
  runs: [RUN],
  progress: [PROGRESS],
  estimates: [{ run: 0, stop_s: 12.5 * SECOND, earliest_s: 11 * SECOND, latest_s: 15 * SECOND, n_unseen: 3 }],
  stops: [{ run: 0, way: 1 }],
  live_states: [{ run: 0, text: 'no workers yet, 3 s' }],
  running: [{ run: 0, lane: null, group: 1, key_text: 'x', start_s: 5.5 * SECOND }],
  messages: [{ time_s: SECOND / 2, level: 0, text: 'hello', worker: null, event: null }]
};

function columnsOf(rows: Rows): Record<string, Values> {
  return Object.fromEntries(Object.keys(rows[0] ?? {}).map(name => [name, rows.map(row => row[name] ?? null)]));
}

function keyOf(key: number[] | string): Record<string, number | string | null> {
  return {
    dims: typeof key === 'string' ? 255 : key.length,
    ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`i${i}`, typeof key === 'string' ? 0 : (key[i] ?? 0)])),
    key_text: typeof key === 'string' ? key : null
  };
}

/** A message with these rows: of the first one of a stream the header stands before. Times of rows are after 1 s. */
export function wireMessage(rows: readonly FixtureRow[], batch: FixtureBatch = {}): WireMessage {
  const { recorder = 'rec', epoch = 'rec-1', stream = 7, seq = 0, first = 0, cursor = first + rows.length, dropped = 0 } = batch;
  const errors = [...new Set(rows.flatMap(row => row.error ?? []))];
  const { running = [], ...others } = { ...(seq === 0 ? TABLES : {}), ...batch.tables };
  const tables: Record<string, Rows> = {
    ...others,
    keys: [
      ...rows.map(row => ({ run: row.run ?? 0, group: row.group ?? 0, ...keyOf(row.key ?? []) })),
      ...running.map(({ run = 0, group = 0, key_text }) => ({ run, group, ...keyOf(String(key_text)) }))
    ],
    running: running.map(({ lane = null, start_s = null }, i) => ({ key: rows.length + i, lane, start_s })),
    errors: errors.map(text => ({ text })),
    state: [{
      now_s: (batch.nowS ?? 10) * SECOND, active: batch.active === false ? 0 : 1, final: 0, n_tasks: cursor, n_dropped: dropped,
      n_activities_dropped: 0, n_cores: null, limit_bytes: null, cache_unknown: 0
    }],
    tasks: rows.map((row, i) => ({
      key: i, lane: row.lane ?? 0, status: row.status ?? 0, observed_by: row.scheduler === true ? 1 : 0,
      duration_s: Math.round((row.durationS ?? 0) * SECOND), stop_s: Math.round((1 + (row.stopUs ?? 0) / 1e6) * SECOND),
      cpu_s: row.cpuS === undefined ? null : Math.round(row.cpuS * SECOND), nbytes: row.nbytes ?? null,
      error: row.error === undefined ? null : errors.indexOf(row.error)
    }))
  };
  const header = headerOf({ recorder, epoch });
  const sections: TableRows = Object.fromEntries(Object.entries(tables).map(([name, of]) => [
    name, { first: name === 'tasks' ? first : 0, columns: columnsOf(of) }
  ]));
  const content = frame(batchBytes(sections), { kind: 1, number: seq + 1, stream });
  const bytes = seq === 0 ? joined([headerFrame(header, stream), content]) : content;
  return { message: { protocol: 1, kind: 'batch', ...batch.message }, buffers: [bytes.slice().buffer] };
}
