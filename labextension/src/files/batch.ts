/** A recording as the one message of the feed that a live view of it would have got. */
import type { Batch, HeldColumns, ResourceColumns, RunningTask } from '../wire';
import { TEXT_KEY, tupleKey } from '../wire';
import { clusterOf, groupOfActivity } from './activities';
import { heldRows } from './held';
import type { HeldRows } from './held';
import { shortened } from './keys';
import { prefixProgress } from './progress';
import type { FileRecording } from './recording';
import { RUNNING } from './recording';
import { keysOf, rowsWith, taskColumns } from './rows';

/** The epoch of such a message. */
export const EPOCH = 'file-0';
const LAST_LANE = 8191;

/**
 * Return the message; its row `i` is row `i` of `rowsWith(recording, isEnded)`.
 *
 * Groups and lanes are numbered from 0, and times count from the recording's zero.
 */
export function batchOf(recording: FileRecording): Batch {
  const held = heldRows(recording);
  const { groups, lanes } = usedIn(recording, held);
  const groupOf = (group: number): number => groups.get(group) ?? 0;
  const laneOf = (lane: number): number => Math.min(lanes.get(lane) ?? 0, LAST_LANE);
  const { tasks, errors } = taskColumns(recording, rowsWith(recording, isEnded), groupOf, laneOf);
  const after = (timeS: number | null): number | null => (timeS === null ? null : timeS - recording.zeroS);
  return {
    recorder: 'file',
    epoch: EPOCH,
    seq: 0,
    nowS: recording.nowS - recording.zeroS,
    active: false,
    final: true,
    first: 0,
    count: tasks.run.length,
    cursor: tasks.run.length,
    dropped: 0,
    tasks,
    errors,
    groups: [...groups].map(([from, id]) => ({
      id, name: shortened(recording.groups[from]?.name ?? '?'), prefix: shortened(recording.groups[from]?.prefix ?? '?')
    })),
    lanes: [...lanes].filter(([, id]) => id <= LAST_LANE).map(([from, id]) => ({
      id,
      worker: shortened(recording.lanes[from]?.worker ?? '?'),
      thread: recording.lanes[from]?.thread ?? 0,
      label: shortened(recording.lanes[from]?.label ?? '?')
    })),
    runs: recording.runs.map(run => ({ ...run, startS: after(run.startS), stopS: after(run.stopS) })),
    progress: prefixProgress(recording),
    estimates: [],
    stops: [],
    running: runningOf(recording, groupOf, laneOf),
    remarks: recording.remarks.map(remark => ({ ...remark, timeS: after(remark.timeS) })),
    resources: resourcesOf(recording),
    held: heldOf(recording, held, groupOf),
    cluster: clusterOf(recording, groupOf, laneOf)
  };
}

/** Whether a task with this status reached an end. */
export function isEnded(status: number): boolean {
  return status !== RUNNING;
}

/** The numbers of the groups and lanes that something is of, in order. */
function usedIn(recording: FileRecording, held: HeldRows): { groups: Map<number, number>; lanes: Map<number, number> } {
  const groups = new Set(held.group);
  const lanes = new Set<number>();
  for (const { run, task, lane } of recording.blocks) {
    const group = recording.graphs.get(run)?.group;
    task.forEach((key, i) => {
      groups.add(group?.[key] ?? 0);
      lanes.add(lane[i] as number);
    });
  }
  recording.activities.lane.forEach((lane, i) => {
    groups.add(groupOfActivity(recording, i));
    lanes.add(lane);
  });
  return { groups: numbered(groups), lanes: numbered(lanes) };
}

function numbered(ids: ReadonlySet<number>): Map<number, number> {
  return new Map([...ids].sort((a, b) => a - b).map((id, place) => [id, place]));
}

function runningOf(
  recording: FileRecording, groupOf: (group: number) => number, laneOf: (lane: number) => number
): RunningTask[] {
  const numbers = rowsWith(recording, status => status === RUNNING);
  const { tasks } = taskColumns(recording, numbers, groupOf, laneOf);
  const keys = keysOf(recording, numbers);
  return Array.from({ length: tasks.run.length }, (_, i) => ({
    run: tasks.run[i] as number,
    lane: tasks.lane[i] as number,
    group: tasks.group[i] as number,
    key: keyText(recording, numbers.block[i] as number, numbers.row[i] as number, keys.take([i]).columns()),
    startS: tasks.startS[i] as number
  }));
}

function keyText(
  recording: FileRecording, block: number, row: number, keys: { dims: Uint8Array; ints: Int32Array; text: Uint8Array }
): string {
  const { run, task } = recording.blocks[block] ?? { run: -1, task: new Int32Array() };
  const group = recording.graphs.get(run)?.group[task[row] ?? -1] ?? -1;
  return keys.dims[0] === TEXT_KEY
    ? new TextDecoder().decode(keys.text)
    : tupleKey(recording.groups[group]?.name ?? '?', [...keys.ints]);
}

function resourcesOf({ samples, metadata, zeroS }: FileRecording): ResourceColumns {
  return {
    first: 0,
    nCores: wholeOf(metadata.n_cores),
    limitBytes: wholeOf(metadata.memory_limit_bytes),
    timeS: samples.time.map(timeS => timeS - zeroS),
    cpuPercent: Float32Array.from(samples.cpuPercent),
    rssBytes: samples.rssBytes,
    nProcesses: Uint16Array.from(samples.nProcesses, n => Math.min(n, 65_535)),
    gap: Uint8Array.from(samples.gap, gap => Math.min(gap, 1))
  };
}

function wholeOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}

function heldOf({ graphs, metadata, zeroS, unknown }: FileRecording, rows: HeldRows, groupOf: (group: number) => number): HeldColumns {
  const name = typeof metadata.metric === 'string' ? shortened(metadata.metric) : 'metric';
  const metrics = new Map([...graphs].filter(([run, { values }]) => values !== null && rows.run.includes(run)).map(([run]) => [run, name]));
  return {
    first: 0,
    run: Int32Array.from(rows.run),
    group: Uint16Array.from(rows.group, group => Math.min(groupOf(group), 65_535)),
    timeS: Float64Array.from(rows.timeS, timeS => timeS - zeroS),
    nKeys: Uint32Array.from(rows.nKeys),
    nbytes: Float64Array.from(rows.nbytes),
    nUnsized: Uint32Array.from(rows.nUnsized),
    value: metrics.size === 0 ? null : Float64Array.from(rows.value),
    nUnvalued: metrics.size === 0 ? null : Uint32Array.from(rows.nUnvalued),
    metrics,
    isUnknown: unknown.has('cache')
  };
}
