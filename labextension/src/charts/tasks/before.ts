/** What was done before the first task of computes: in the kernel, on a scheduler, for a worker. */
import { formatDuration } from '../../lib/format';
import type { TranslationBundle } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import type { Run } from '../../wire';
import { isOfOthers, isOnCluster } from '../../wire';
import { runName } from '../ui/cell-link';
import type { TextTable } from '../ui/tables';

const MAX_RUNS = 100;

/** One thing that was done, of `tookS` seconds from `startS` on. */
export interface Phase {
  readonly name: string;
  readonly startS: number;
  readonly tookS: number;
}

/** What is known of one compute, in the order in which it was done; as `taskscope.analysis.before_tasks` has it. */
export function phasesOf(run: Run, trans: TranslationBundle): Phase[] {
  const { startS, receivedS } = run;
  if (startS === null) {
    return [];
  }
  const client = steps(startS - (run.optimizeS ?? 0) - (run.sendS ?? 0), [[trans.__('building the graph'), run.optimizeS], [trans.__('sending it'), run.sendS]]);
  const scheduler = steps(Math.max(receivedS ?? startS, startS), [
    [trans.__('making its tasks'), run.materializeS], [trans.__('ordering them'), run.orderS], [trans.__('taking them in'), run.initializeS]
  ]);
  return [...client, ...scheduler];
}

function steps(fromS: number, took: readonly (readonly [string, number | null])[]): Phase[] {
  let startS = fromS;
  return took.flatMap(([name, tookS]) => {
    const phase = { name, startS, tookS: tookS ?? 0 };
    startS += phase.tookS;
    return tookS === null ? [] : [phase];
  });
}

/** The same as text; null where nothing of it is known. */
export function beforeTable(store: TaskStore, window: RunWindow, trans: TranslationBundle): TextTable | null {
  const runs = store.tables.runsIn(window).slice(-MAX_RUNS);
  const rows = runs.flatMap(run => phasesOf(run, trans).map(({ name, tookS }) => [String(run.run), runName(run) ?? '', name, formatDuration(tookS)]));
  const columns = [trans.__('Compute'), trans.__('Cell'), trans.__('Before its first task'), trans.__('Duration')];
  return rows.length === 0 ? null : { caption: trans.__('Before the first task'), columns, rows };
}

/** What a compute waits for of which no task is known yet; null: for its first task, as far as one can tell. */
export function building(store: TaskStore, window: RunWindow, nowS: number, trans: TranslationBundle): string | null {
  const run = store.tables.runsIn(window).findLast(one => one.status === 'running' && one.sendS !== null && isOnCluster(one) && !isOfOthers(one));
  if (run?.startS == null || run.materializeS !== null || store.tables.progressIn({ firstRun: run.run, lastRun: run.run }).length > 0) {
    return null;
  }
  return trans.__('the scheduler builds the graph: %1', formatDuration(Math.max(nowS - run.startS, 0)));
}
