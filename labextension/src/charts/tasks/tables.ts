/** The chart as tables: prefixes, lanes, and the tasks in sight. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import { Coverage } from '../../store';
import type { Run } from '../../wire';
import { runName } from '../ui/keeping';
import type { TextTable } from '../ui/tables';
import { countTouching } from './find-task';
import type { PrefixSummary } from './legend';
import type { PrefixFilter, Scene } from './scene';
import { coverageQuery, isShown } from './scene';

const MAX_LANES = 200;
const MAX_TASKS = 10_000;

export function prefixTable(prefixes: readonly PrefixSummary[]): TextTable {
  return {
    caption: trans.__('Tasks of each type'),
    columns: [trans.__('Task type'), trans.__('Tasks'), trans.__('Finished'), trans.__('Failed'), trans.__('Interrupted'), trans.__('Running'), trans.__('Mean duration')],
    rows: prefixes.map(p => [
      printable(p.prefix),
      ...[p.total, p.finished, p.erred, p.interrupted, p.running].map(formatCount),
      formatDuration(p.meanS)
    ])
  };
}

/** How busy each lane was over all the time there is. */
export function laneTable(store: TaskStore, scene: Scene): TextTable {
  const { lanes, worked, runs, open } = scene;
  const more = lanes.length - MAX_LANES;
  const coverage = new Coverage();
  const seen = { hidden: null, focus: -1 };
  const query = coverageQuery(store, { ...scene, span: worked }, seen, 1);
  return {
    caption: more > 0 ? trans.__('The first %1 of %2 threads', formatCount(MAX_LANES), formatCount(lanes.length)) : trans.__('Threads'),
    columns: [trans.__('Thread'), trans.__('Worker'), trans.__('Tasks'), trans.__('Busy')],
    rows: lanes.slice(0, MAX_LANES).map(({ id, label, worker }) => {
      const lane = store.lane(id);
      coverage.measure([{ tasks: lane, open: open.get(id) ?? [] }], query);
      const n = lane === undefined ? 0 : countTouching(lane, worked.startS, worked.stopS, runs, seen);
      return [label, worker, formatCount(n), formatPercent(coverage.cover[0] ?? 0)];
    })
  };
}

/** The tasks in sight, lane by lane; times since the first compute shown. */
export function taskTable(store: TaskStore, { lanes, span, runs, zeroS }: Scene, filter: PrefixFilter): TextTable {
  const rows: string[][] = [];
  let n = 0;
  for (const { id, label } of lanes) {
    const lane = store.lane(id);
    const last = lane?.firstStarting(span.stopS) ?? 0;
    for (let i = lane?.firstReaching(span.startS) ?? 0; lane !== undefined && i < last; i += 1) {
      const detail = isShown(lane, i, runs, filter) ? (n += 1) <= MAX_TASKS && store.detail(id, i) : false;
      if (detail) {
        const { key, prefix, status, startS, stopS, cpuS, sizeBytes, error } = detail;
        rows.push([
          printable(key, 400), printable(prefix), label, status, formatDuration(startS - zeroS), formatDuration(stopS - startS),
          formatDuration(cpuS), formatBytes(sizeBytes), printable(error ?? '', 400)
        ]);
      }
    }
  }
  const caption = n > rows.length ? trans.__('The first %1 of %2 tasks in sight', formatCount(rows.length), formatCount(n)) : trans._n('%2 task in sight', '%2 tasks in sight', n, formatCount(n));
  return {
    caption,
    columns: [trans.__('Key'), trans.__('Task type'), trans.__('Thread'), trans.__('Status'), trans.__('Start'), trans.__('Duration'), trans.__('CPU time'), trans.__('Result size'), trans.__('Error')],
    rows
  };
}

/** What is known of one compute, and how long it took, in the order in which it was done; as `taskscope.analysis.before_tasks` has it. */
export function stepsOf(run: Run): [name: string, tookS: number][] {
  const steps: [string, number | null][] = [
    [trans.__('sending the graph'), run.sendS], [trans.__('making its tasks'), run.materializeS], [trans.__('ordering them'), run.orderS],
    [trans.__('taking them in'), run.initializeS]
  ];
  return steps.flatMap(([name, tookS]) => tookS === null ? [] : [[name, tookS]]);
}

/** The same as text; no table where nothing of it is known. */
export function beforeTables(store: TaskStore, window: RunWindow): readonly TextTable[] {
  const runs = store.tables.runsIn(window);
  const rows = runs.flatMap(run => stepsOf(run).map(([name, tookS]) => [runName(run) ?? String(run.run), name, formatDuration(tookS)]));
  const columns = [trans.__('Compute'), trans.__('Step'), trans.__('Duration')];
  return rows.length === 0 ? [] : [{ caption: trans.__('Before the first task'), columns, rows }];
}
