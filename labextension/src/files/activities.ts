/** What only clusters have, in a file: activities, where their data came from, and samples of workers. */
import type { ActivityColumns, ClusterPart, ClusterWorker, WorkerColumns } from '../wire';
import { ACTIVITIES, UNKNOWN_CODE } from '../wire';
import { demand } from './errors';
import { shortened } from './keys';
import type { Packed } from './pack';
import { inFile, joined } from './pack';
import type { FileActivities, FileRecording } from './recording';
import { MAX_S } from './records';
import type { Column } from './schema';
import type { ACTIVITY } from './schema';

const LAST_LANE = 8191;
const LAST_GROUP = 65_535;

/**
 * Put pieces together; none where pieces are missing.
 *
 * @param sizes bytes that became known after their activities
 * @param grows whether pieces were written while recording, so that nobody knows how many there are
 */
export function activitiesOf(pieces: readonly Packed[], sizes: readonly Packed[], grows: boolean): FileActivities {
  const column = <T extends Column>(name: keyof typeof ACTIVITY, empty: T): T =>
    joined(pieces.map(({ columns }) => columns.get(name) as T | undefined ?? empty), empty);
  const all = {
    run: column('run', new Int32Array()),
    task: column('task', new Int32Array()),
    lane: column('lane', new Uint16Array()),
    kind: column('kind', new Uint8Array()),
    start: column('start', new Float64Array()),
    duration: column('duration', new Float32Array()),
    source: column('source', new Uint32Array()),
    nbytes: column('nbytes', new Float64Array())
  };
  const head = grows ? undefined : pieces[0]?.head;
  const nRows = grows ? all.run.length : head === undefined ? 0 : inFile(() => head.at('n_rows').count(2 ** 32));
  if (Object.values(all).some(({ length }) => length !== nRows)) {
    demand(!grows, 'columns of activities must be equally long');
    return activitiesOf([], [], false);
  }
  sizes.forEach(({ columns }) => { complete(all.nbytes, columns); });
  return { ...all, dropped: head === undefined ? 0 : inFile(() => head.at('dropped').count(2 ** 52)) };
}

function complete(nbytes: Float64Array, columns: Packed['columns']): void {
  const [place, known] = [columns.get('place'), columns.get('nbytes')];
  demand(place !== undefined && place.length === known?.length, 'columns of activities must be equally long');
  place.forEach((at: number, i: number) => {
    demand(at >= 0 && at < nbytes.length, 'the bytes of an activity must be of one that is known');
    nbytes[at] = known[i] as number;
  });
}

/** Throws DamagedFileError unless the runs, tasks, lanes and sources that activities refer to are there. */
export function checkActivities({ activities, sources, graphs, lanes }: FileRecording): void {
  const { run, task, lane, kind, start, duration, source } = activities;
  demand(run.every((number, i) => {
    const at = task[i] as number;
    return at >= 0 && at < (graphs.get(number)?.group.length ?? 0);
  }), 'a task must be known');
  demand(lane.every(id => id < lanes.length), 'the lane of an activity must be known');
  demand(kind.every(code => code < ACTIVITIES.length), 'the kind of an activity must be known');
  demand(source.every(place => place < Math.max(sources.length, 1)), 'the source of an activity must be known');
  demand(start.every(s => Math.abs(s) < MAX_S) && duration.every(s => s >= 0 && s < MAX_S), 'a time must be possible');
}

/** What a message says of them; null: there is nothing of the kind. */
export function clusterOf(
  recording: FileRecording, groupOf: (group: number) => number, laneOf: (lane: number) => number
): ClusterPart | null {
  const { activities, workers } = recording;
  return activities.run.length === 0 && workers.length === 0
    ? null
    : { activities: activityColumns(recording, groupOf, laneOf), workers: workerColumns(recording) };
}

/** The group of the task of an activity. */
export function groupOfActivity({ graphs, activities: { run, task } }: FileRecording, i: number): number {
  return graphs.get(run[i] as number)?.group[task[i] as number] ?? 0;
}

function activityColumns(
  recording: FileRecording, groupOf: (group: number) => number, laneOf: (lane: number) => number
): ActivityColumns {
  const { activities, sources, zeroS } = recording;
  const { start, duration, dropped } = activities;
  const order = Uint32Array.from(start, (_, i) => i);
  order.sort((a, b) =>
    (start[a] as number) - (start[b] as number) || (duration[b] as number) - (duration[a] as number) || a - b
  );
  const pick = (column: ArrayLike<number>): number[] => Array.from(order, i => column[i] as number);
  return {
    first: dropped,
    dropped,
    run: Int32Array.from(pick(activities.run)),
    lane: Uint16Array.from(pick(activities.lane), lane => Math.min(laneOf(lane), LAST_LANE)),
    kind: Uint8Array.from(pick(activities.kind)),
    group: Uint16Array.from(order, i => Math.min(groupOf(groupOfActivity(recording, i)), LAST_GROUP)),
    source: Uint16Array.from(pick(activities.source), source => Math.min(source, UNKNOWN_CODE)),
    startS: Float64Array.from(pick(start), s => s - zeroS),
    durationS: Float32Array.from(pick(duration)),
    nbytes: Float64Array.from(pick(activities.nbytes)),
    completedRow: new Uint32Array(),
    completedBytes: new Float64Array(),
    sources: order.length === 0 ? [] : sources.map((address, id) => ({ id, address: shortened(address) })).slice(1)
  };
}

function workerColumns({ workers: samples, zeroS }: FileRecording): WorkerColumns {
  const known = new Map<string, ClusterWorker>();
  for (const { worker, name, nThreads } of samples) {
    const before = known.get(worker);
    known.set(worker, {
      id: before?.id ?? known.size,
      address: shortened(worker),
      name: shortened(name),
      nThreads: nThreads === 0 && before !== undefined ? before.nThreads : nThreads
    });
  }
  return {
    first: 0,
    worker: Uint16Array.from(samples, ({ worker }) => Math.min(known.get(worker)?.id ?? 0, UNKNOWN_CODE)),
    timeS: Float64Array.from(samples, ({ timeS }) => timeS - zeroS),
    nThreads: Uint32Array.from(samples, ({ nThreads }) => nThreads),
    nExecuting: Uint16Array.from(samples, ({ nExecuting }) => (Number.isNaN(nExecuting) ? UNKNOWN_CODE : Math.min(nExecuting, UNKNOWN_CODE - 1))),
    cpuPercent: Float32Array.from(samples, ({ cpuPercent }) => cpuPercent),
    rssBytes: Float64Array.from(samples, ({ rssBytes }) => rssBytes),
    managedBytes: Float64Array.from(samples, ({ managedBytes }) => managedBytes),
    spilledBytes: Float64Array.from(samples, ({ spilledBytes }) => spilledBytes),
    limitBytes: Float64Array.from(samples, ({ limitBytes }) => limitBytes),
    workers: [...known.values()]
  };
}
