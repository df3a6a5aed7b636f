import { describe, expect, it } from 'vitest';

import { readRecording } from '../../src/files/recording';
import { ClusterStore, TaskStore } from '../../src/store';
import type { Batch } from '../../src/wire';
import { DOCUMENTS, documentOf, messagesOf } from './documents';

/** Expects the same but for how numbers are rounded: times are sent in microseconds. */
function closeTo(value: unknown): unknown {
  if (typeof value === 'number') {
    return Number.isInteger(value) || Number.isNaN(value) ? value : expect.closeTo(value, 5);
  }
  if (Array.isArray(value)) {
    return value.map(closeTo);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closeTo(each)]))
    : value;
}

/** Everything in messages that a view can show. */
function shown(batches: readonly Batch[]): unknown {
  const cluster = new ClusterStore();
  const store = new TaskStore({ cluster });
  batches.forEach(batch => {
    expect(store.append(batch).kind).toBe('appended');
  });
  const tasks = store.laneIds.flatMap(id => {
    const lane = store.lane(id);
    return Array.from({ length: lane?.n ?? 0 }, (_, i) => {
      const task = store.detail(id, i);
      return task && { ...task, lane: id };
    });
  });
  const { held, resources, tables } = store;
  const rows = Array.from({ length: held.n }, (_, i) => [
    held.run[i], held.group[i], held.timeS[i] ?? NaN, held.nKeys[i], held.nbytes[i], held.nUnsized[i], held.value[i], held.nUnvalued[i]
  ]);
  return {
    tasks: tasks.sort((a, b) => ((a?.key ?? '') < (b?.key ?? '') ? -1 : 1)),
    groups: tables.groups.map(group => group && { id: group.id, name: group.name, prefix: group.prefix, colour: group.colour }),
    lanes: tables.lanes,
    runs: [...tables.runs.values()],
    progress: tables.progressIn({ firstRun: 0, lastRun: null }),
    running: tables.running,
    remarks: tables.remarks,
    resources: Array.from({ length: resources.n }, (_, i) => [
      resources.timeS[i] ?? NaN, resources.cpuPercent[i], resources.rssBytes[i], resources.nProcesses[i], resources.gap[i]
    ]),
    limits: [resources.nCores, resources.limitBytes],
    held: rows,
    ...shownCluster(cluster),
    metrics: [...held.metrics],
    nowS: batches[0]?.nowS ?? NaN
  };
}

function shownCluster({ activities, workers }: ClusterStore): object {
  const lanes = [0, 1, 2, 3].map(id => Array.from({ length: activities.lane(id)?.n ?? 0 }, (_, i) => activities.detail(id, i)));
  const series = [null, 0, 1].map(id => {
    const { n, timeS, nWorkers, ...s } = workers.series(id);
    const values = [s.cpuPercent, s.rssBytes, s.managedBytes, s.spilledBytes, s.limitBytes, s.nThreads, s.nExecuting];
    return Array.from({ length: n }, (_, i) => [timeS[i], nWorkers[i], ...values.map(column => column[i])]);
  });
  return { activities: lanes, missing: activities.missing, workers: workers.workers, series };
}

it('has files of both kinds', () => {
  expect([...DOCUMENTS.keys()].sort()).toEqual(expect.arrayContaining(['busy', 'cluster', 'odd', 'running', 'v1-killed', 'v1-whole']));
});

describe.each([...DOCUMENTS.keys()])('%s', name => {
  it('shows what Python shows of it', async () => {
    const recording = await readRecording(documentOf(name));
    expect(shown([recording.batch])).toEqual(closeTo(shown(messagesOf(name))));
  });
});

it('shows what workers did besides computing, and what they said of themselves', async () => {
  const cluster = new ClusterStore();
  new TaskStore({ cluster }).append((await readRecording(documentOf('cluster'))).batch);
  const { activities, workers } = cluster;
  const detail = (kind: string, startS: number, stopS: number, source: string | null, nbytes: number | null, group = 1): object =>
    ({ kind, group, startS, stopS, source, nbytes });
  const b = 'tls://10.0.0.2:4002';
  expect([0, 1, 2].map(i => activities.detail(1, i))).toEqual([
    detail('disk-read', 1.25, 1.375, null, null), detail('transfer', 1.5, 2, b, 8e6), detail('transfer', 1.5, 1.75, b, null)
  ]);
  expect(activities.sums({ firstRun: 0, lastRun: null }).map(({ kind, n, seconds, nbytes }) => [kind, n, seconds, nbytes])).toEqual([
    ['transfer', 2, 0.75, 8e6], ['disk-read', 1, 0.125, 0], ['disk-write', 1, 0.0625, 0],
    ['deserialize', 1, 0.125, 0], ['serialize', 1, 0.125, 0], ['other', 1, 0.125, 0],
    ['failed-attempt', 1, 0.25, 0]
  ]);
  expect(activities.detail(2, 2)).toEqual(detail('failed-attempt', 1.75, 2, 'ValueError: no luck (attempt 1)', null, 0));
  expect([activities.n, activities.missing]).toEqual([8, 4]);
  const { timeS, nWorkers, managedBytes, rssBytes, n } = workers.series(null);
  expect([n, [...timeS.slice(0, n)], [...nWorkers.slice(0, n)]]).toEqual([4, [0.5, 0.75, 1.5, 2], [1, 2, 2, 1]]);
  expect([...managedBytes.slice(0, n)]).toEqual([1e8, 5e8, NaN, NaN]);
  expect([...rssBytes.slice(0, n)]).toEqual([3e8, 8e8, 9e8, 4e8]);
  expect(workers.nameOf(b)).toBe('7');
});

it('shows what was held, in bytes and in the metric of the recording', async () => {
  const { batch: { held } } = await readRecording(documentOf('busy'));
  expect([held.timeS.length > 20, [...held.metrics.values()]]).toEqual([true, ['weight']]);
  expect(Math.max(...held.nbytes)).toBeGreaterThan(0);
});

it('tells what a task needs and what needs it', async () => {
  const { batch: { tasks }, links: linksOf } = await readRecording(documentOf('odd'));
  const links = Array.from({ length: tasks.run.length }, (_, row) => linksOf()(row));
  const named = links.map(found => [found?.dependencies.map(({ key }) => key), found?.dependents.map(({ row }) => row)]);
  expect(named).toEqual([[[], [1]], [["('pair', 1)"], []], [[], [3]], [["('pair', 1)"], []]]);
  expect(linksOf()(99)).toBeNull();
});
