/** The kernel's tests write messages and what they mean; this side must read the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { type TaskDetail, TaskStore } from '../../src/store';
import { type Columns, PageStream, STATUSES } from '../../src/wire';

interface Golden {
  message: Record<string, unknown>;
  buffers: string[];
  expect: Record<'keys' | 'prefixes' | 'observed', string[]> &
    Record<'start_s' | 'stop_s' | 'status' | 'lanes' | 'runs', number[]> &
    Record<'errors', (string | null)[]> &
    Record<'cpu_s' | 'size_bytes', (number | null)[]> &
    Record<'samples' | 'held', (number | null)[][]>;
}

const FOLDER = join(import.meta.dirname, '../../../tests/fixtures/wire');

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(base64, 'base64')).buffer;
}

/** All rows of a store in the order they came, each with its lane. */
function rowsOf(store: TaskStore): { lane: number; task: TaskDetail }[] {
  const rows: { lane: number; task: TaskDetail }[] = [];
  for (const lane of store.laneIds) {
    const tasks = store.lane(lane);
    for (let i = 0; i < (tasks?.n ?? 0); i += 1) {
      const task = store.detail(lane, i);
      if (task !== null) {
        rows[tasks?.row[i] ?? 0] = { lane, task };
      }
    }
  }
  return rows;
}

describe.each(readdirSync(FOLDER).filter(name => name.endsWith('.json')))('%s', name => {
  const golden = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Golden;

  it('says here what it says in the kernel', () => {
    const store = new TaskStore();
    const [batch] = new PageStream().take(golden.message, golden.buffers.map(bytes)) ?? [];
    if (batch === undefined) {
      throw new Error('no batch');
    }
    expect(store.append(batch)).toEqual({ kind: 'appended', rows: golden.expect.keys.length });
    const rows = rowsOf(store);
    const near = (actual: (number | null)[], golden: (number | null)[], relative: number): (number | null)[] =>
      actual.map((value, i) => (isNear(value, golden[i] ?? null, relative) ? (golden[i] ?? null) : value));
    const durations = rows.map(({ task }) => task.stopS - task.startS);
    expect({
      keys: rows.map(({ task }) => task.key),
      prefixes: rows.map(({ task }) => task.prefix),
      errors: rows.map(({ task }) => task.error),
      observed: rows.map(({ task }) => task.observedBy),
      status: rows.map(({ task }) => STATUSES.indexOf(task.status)),
      lanes: rows.map(({ lane }) => lane),
      runs: rows.map(({ task }) => task.run),
      start_s: near(rows.map(({ task }) => task.startS), golden.expect.start_s, 1e-6),
      stop_s: near(rows.map(({ task }) => task.stopS), golden.expect.stop_s, 1e-6),
      cpu_s: near(rows.map(({ task }) => task.cpuS), cpuSeconds(golden, durations), 1e-7),
      samples: samplesOf(batch.tables.resources.columns),
      held: heldOf(batch.tables.cache.columns),
      size_bytes: near(rows.map(({ task }) => task.sizeBytes), golden.expect.size_bytes, 1e-7)
    }).toEqual({ ...golden.expect, cpu_s: cpuSeconds(golden, durations) });
  });
});

function samplesOf(r: Columns<'resources'>): (number | null)[][] {
  const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);
  return Array.from(r.timeS, (timeS, i) =>
    [timeS, r.cpuPercent[i], r.rssBytes[i], r.nProcesses[i], r.gap[i]].map(known)
  );
}

function heldOf(h: Columns<'cache'>): (number | null)[][] {
  return Array.from(h.timeS, (timeS, i) => {
    const valued = Number.isNaN(h.value[i]) ? [null, null] : [h.value[i], h.nUnvalued[i]];
    return [h.run[i], h.group[i], timeS, h.nKeys[i], h.nbytes[i], h.nUnsized[i], ...valued].map(v => v ?? null);
  });
}

/** The wire carries what is no more than the duration. */
function cpuSeconds({ expect: { cpu_s } }: Golden, durations: number[]): (number | null)[] {
  return cpu_s.map((cpu, i) => (cpu === null ? null : Math.min(cpu, durations[i] ?? 0)));
}

function isNear(a: number | null, b: number | null, relative: number): boolean {
  return a !== null && b !== null && Math.abs(a - b) <= Math.max(Math.abs(b) * relative, 1e-6);
}
