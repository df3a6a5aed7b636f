/** What a compute of a cluster waits for before its tasks are known. */
import { formatDuration } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';

/** What a compute waits for of which no task is known yet; null: for its first task, as far as one can tell. */
export function building(store: TaskStore, window: RunWindow, nowS: number): string | null {
  // Only a client sends one.
  const run = store.tables.runsIn(window).findLast(one => one.status === 'running' && one.sendS !== null);
  if (run === undefined || store.tables.progressIn({ firstRun: run.run, lastRun: run.run }).length > 0) {
    return null;
  }
  return trans.__('the scheduler builds the graph: %1', formatDuration(nowS - (run.startS ?? nowS)));
}
