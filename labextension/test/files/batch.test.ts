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
    groups: tables.groups.map(group => group && { name: group.name, prefix: group.prefix, colour: group.colour }),
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
    nowS: batches[0]?.tables.state.columns.nowS[0] ?? NaN
  };
}

function shownCluster({ activities, workers }: ClusterStore): object {
  const lanes = [0, 1, 2, 3].map(id => Array.from({ length: activities.lane(id)?.n ?? 0 }, (_, i) => activities.detail(id, i)));
  const series = [null, 0, 1].map(id => {
    const { n, timeS, nWorkers, ...s } = workers.series(id);
    const values = [s.cpuPercent, s.rssBytes, s.managedBytes, s.spilledBytes, s.limitBytes, s.nThreads, s.nExecuting];
    return Array.from({ length: n }, (_, i) => [timeS[i], nWorkers[i], ...values.map(column => column[i])]);
  });
  return { activities: lanes, missing: activities.missing, workers: [...workers.workers.values()], series };
}

describe.each([...DOCUMENTS.keys()])('%s', name => {
  it('shows what Python shows of it', async () => {
    const recording = await readRecording(documentOf(name));
    expect(shown([recording.batch])).toEqual(closeTo(shown(messagesOf(name))));
  });
});

it('tells what a task needs and what needs it', async () => {
  const { batch: { tables: { tasks } }, links: linksOf } = await readRecording(documentOf('odd'));
  const links = Array.from({ length: tasks.n }, (_, row) => linksOf()(row));
  const named = links.map(found => [found?.dependencies.map(({ key }) => key), found?.dependents.map(({ row }) => row)]);
  expect(named).toEqual([[[], [1]], [["('pair', 1)"], []], [[], [3]], [["('pair', 1)"], []]]);
  expect(linksOf()(99)).toBeNull();
});
