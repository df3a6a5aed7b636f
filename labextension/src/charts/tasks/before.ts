/** What was done before the first task of computes: in the kernel, on a scheduler, for a worker. */
import { formatDuration } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import type { Run } from '../../wire';
import { runName } from '../ui/cell-link';
import type { TextTable } from '../ui/tables';

/** What is known of one compute, and how long it took, in the order in which it was done; as `taskscope.analysis.before_tasks` has it. */
export function stepsOf(run: Run): [name: string, tookS: number][] {
  const steps: [string, number | null][] = [
    [trans.__('building the graph'), run.optimizeS], [trans.__('sending it'), run.sendS], [trans.__('making its tasks'), run.materializeS],
    [trans.__('ordering them'), run.orderS], [trans.__('taking them in'), run.initializeS]
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
