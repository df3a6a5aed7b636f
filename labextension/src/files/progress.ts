/** How far each prefix of each compute of a recording came, as a live recorder counts it. */
import type { PrefixProgress } from '../wire';
import type { FileRecording, Graph } from './recording';
import { SCHEDULER_OBSERVED, STATUSES } from './recording';

const [FINISHED, ERRED, INTERRUPTED, LOST, RUNNING] = STATUSES.keys() as Iterable<number> as [number, number, number, number, number];

interface Counts {
  planned: number;
  readonly ended: number[];
  seconds: number;
}

/** One row for each compute and prefix. */
export function prefixProgress(recording: FileRecording): PrefixProgress[] {
  return [...recording.graphs].flatMap(([run, graph]) => rowsOf(recording, run, graph));
}

function rowsOf(recording: FileRecording, run: number, graph: Graph): PrefixProgress[] {
  const groups: Counts[] = recording.groups.map(() => ({ planned: 0, ended: STATUSES.map(() => 0), seconds: 0 }));
  const of = (key: number): Counts | undefined => groups[graph.group[key] ?? -1];
  const plan = (key: number, n: number): void => {
    const counts = of(key);
    if (counts !== undefined) {
      counts.planned += n;
    }
  };
  graph.group.forEach((_, key) => {
    plan(key, 1);
  });
  graph.data.forEach(key => {
    plan(key, -1);
  });
  for (const block of recording.blocks.filter(each => each.run === run)) {
    block.task.forEach((key, i) => {
      const counts = of(key);
      const status = (block.flags[i] ?? 0) % SCHEDULER_OBSERVED;
      if (counts !== undefined) {
        counts.ended[status] = (counts.ended[status] ?? 0) + 1;
        counts.seconds += block.duration[i] ?? 0;
      }
    });
  }
  const rows = new Map<string, PrefixProgress>();
  groups.forEach(({ planned, ended, seconds }, id) => {
    const n = (status: number): number => ended[status] ?? 0;
    const total = Math.max(planned, ended.reduce((sum, count) => sum + count, 0));
    if (total > 0) {
      const prefix = recording.groups[id]?.prefix ?? '?';
      const before = rows.get(prefix) ?? { total: 0, finished: 0, erred: 0, running: 0, interrupted: 0, durationS: 0 };
      rows.set(prefix, {
        run,
        prefix,
        total: before.total + total,
        finished: before.finished + n(FINISHED),
        erred: before.erred + n(ERRED),
        running: before.running + n(RUNNING),
        interrupted: before.interrupted + n(INTERRUPTED) + n(LOST),
        durationS: (before.durationS ?? 0) + seconds,
        scheduled: null
      });
    }
  });
  return [...rows.values()];
}
