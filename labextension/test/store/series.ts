/** Samples and held rows as a test writes them down. */
import { type SmallBatch, sectionOf } from '../charts/small-batch';

export interface Sample {
  at: number;
  cpu?: number | null;
  rss?: number;
  peak?: number | null;
  n?: number;
  gap?: boolean;
}

export interface Limits {
  first?: number;
  nCores?: number | null;
  limitBytes?: number | null;
}

export function resourceColumns(samples: readonly Sample[] = [], { first = 0, nCores = 2, limitBytes = 8e9 }: Limits = {}): SmallBatch['resources'] {
  const rows = samples.map(({ at, cpu, rss = 1e9, peak = null, n = 1, gap }) => ({ timeS: at, cpuPercent: cpu, rssBytes: rss, peakBytes: peak, nProcesses: n, gap }));
  return { ...sectionOf('resources', rows, first), nCores, limitBytes };
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

export interface Held {
  first?: number;
  metrics?: ReadonlyMap<number, string>;
  isUnknown?: boolean;
}

export function heldColumns(held: readonly HeldRow[] = [], { first = 0, ...more }: Held = {}): SmallBatch['held'] {
  const valued = held.some(row => row.value !== undefined);
  const rows = held.map(({ at, run, group, keys, bytes, unsized, value, unvalued }) => ({
    timeS: at, run, group, nKeys: keys, nbytes: bytes, nUnsized: unsized, value: valued ? (value ?? 0) : null, nUnvalued: unvalued
  }));
  return { ...sectionOf('cache', rows, first), ...more };
}
