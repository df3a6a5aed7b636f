/** How far each prefix of each compute of a recording came, as a live recorder counts it. */
import type { PrefixProgress } from '../wire';
import type { FileRecording, Graph, RowBlock } from './recording';
import { SCHEDULER_OBSERVED, STATUSES } from './recording';

const [FINISHED, ERRED, INTERRUPTED, LOST, RUNNING] = STATUSES.keys() as Iterable<number> as [number, number, number, number, number];
const NO_ROW = 255;

interface Counts {
  /** Keys that are no data. */
  planned: number;
  spared: number;
  nRows: number;
  seconds: number;
  /** Tasks by what became of them. */
  readonly are: number[];
}

/** One row for each compute and prefix. */
export function prefixProgress(recording: FileRecording): PrefixProgress[] {
  return [...recording.graphs].flatMap(([run, graph]) => rowsOf(recording, run, graph));
}

function rowsOf(recording: FileRecording, run: number, graph: Graph): PrefixProgress[] {
  const rows = new Map<string, PrefixProgress>();
  countGroups(recording, run, graph).forEach(({ planned, spared, nRows, seconds, are }, id) => {
    const n = (status: number): number => are[status] ?? 0;
    const nSeen = are.reduce((sum, count) => sum + count, 0);
    const total = graph.isKnown ? planned - spared : Math.max(planned - spared, nSeen);
    if (total + spared > 0) {
      const prefix = recording.groups[id]?.prefix ?? '?';
      const before = rows.get(prefix) ?? NOTHING;
      rows.set(prefix, {
        run,
        prefix,
        total: before.total + total,
        finished: before.finished + n(FINISHED),
        erred: before.erred + n(ERRED),
        running: before.running + n(RUNNING),
        interrupted: before.interrupted + n(INTERRUPTED) + n(LOST),
        spared: before.spared + spared,
        again: before.again + nRows - nSeen,
        durationS: (before.durationS ?? 0) + seconds,
        scheduled: null
      });
    }
  });
  return [...rows.values()];
}

const NOTHING = { total: 0, finished: 0, erred: 0, running: 0, interrupted: 0, spared: 0, again: 0, durationS: 0 };

function countGroups(recording: FileRecording, run: number, graph: Graph): Counts[] {
  const groups: Counts[] = recording.groups.map(() => ({ planned: 0, spared: 0, nRows: 0, seconds: 0, are: STATUSES.map(() => 0) }));
  const blocks = recording.blocks.filter(block => block.run === run);
  const statuses = taskStatuses(blocks, graph.group.length);
  const [data, spared] = [new Set(graph.data), new Set(graph.spared)];
  graph.group.forEach((group, key) => {
    const [counts, status] = [groups[group], statuses[key] as number];
    if (counts !== undefined) {
      counts.planned += data.has(key) ? 0 : 1;
      if (status !== NO_ROW) {
        counts.are[status] = (counts.are[status] ?? 0) + 1;
      } else if (spared.has(key)) {
        counts.spared += 1;
      }
    }
  });
  for (const { task, duration } of blocks) {
    task.forEach((key, i) => {
      const counts = groups[graph.group[key] ?? -1];
      if (counts !== undefined) {
        counts.nRows += 1;
        counts.seconds += duration[i] as number;
      }
    });
  }
  return groups;
}

/** What became of each key, or NO_ROW. On a cluster a task may run again: what ended last counts. */
function taskStatuses(blocks: readonly RowBlock[], nKeys: number): Uint8Array {
  const found = new Uint8Array(nKeys).fill(NO_ROW);
  const stops = new Float64Array(nKeys).fill(-Infinity);
  for (const { task, start, duration, flags } of blocks) {
    task.forEach((key, i) => {
      const stopS = (start[i] as number) + (duration[i] as number);
      if (stopS >= (stops[key] as number)) {
        stops[key] = stopS;
        found[key] = (flags[i] as number) % SCHEDULER_OBSERVED;
      }
    });
  }
  return found;
}
