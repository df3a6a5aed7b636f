/** Samples and held rows as a test writes them down. */
import type { HeldColumns, ResourceColumns } from '../../src/wire';

export interface Sample {
  at: number;
  cpu?: number | null;
  rss?: number;
  n?: number;
  gap?: boolean;
}

export function resourceColumns(samples: readonly Sample[] = [], section: Partial<ResourceColumns> = {}): ResourceColumns {
  return {
    first: 0, nCores: 2, limitBytes: 8e9,
    timeS: Float64Array.from(samples, s => s.at),
    cpuPercent: Float32Array.from(samples, s => s.cpu ?? NaN),
    rssBytes: Float64Array.from(samples, s => s.rss ?? 1e9),
    nProcesses: Uint16Array.from(samples, s => s.n ?? 1),
    gap: Uint8Array.from(samples, s => (s.gap === true ? 1 : 0)),
    ...section
  };
}

export interface HeldRow {
  at: number;
  run?: number;
  group?: number;
  keys: number;
  bytes?: number;
  unsized?: number;
  value?: number;
  unvalued?: number;
}

export function heldColumns(rows: readonly HeldRow[] = [], section: Partial<HeldColumns> = {}): HeldColumns {
  const valued = rows.some(row => row.value !== undefined);
  return {
    first: 0,
    timeS: Float64Array.from(rows, r => r.at),
    run: Int32Array.from(rows, r => r.run ?? 0),
    group: Uint16Array.from(rows, r => r.group ?? 0),
    nKeys: Uint32Array.from(rows, r => r.keys),
    nbytes: Float64Array.from(rows, r => r.bytes ?? 0),
    nUnsized: Uint32Array.from(rows, r => r.unsized ?? 0),
    value: valued ? Float64Array.from(rows, r => r.value ?? 0) : null,
    nUnvalued: valued ? Uint32Array.from(rows, r => r.unvalued ?? 0) : null,
    metrics: new Map(),
    isUnknown: false,
    ...section
  };
}
