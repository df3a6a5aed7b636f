/** How far some computes of a store are, now. */
import { ALL_RUNS, type TaskStore } from '../../store';
import { type ProgressLayout, layoutProgress } from './layout';

export function layoutOf({ tables, clock }: TaskStore, shown: ReadonlySet<number>): ProgressLayout {
  const runs = tables.runsIn(ALL_RUNS).filter(({ run }) => shown.has(run));
  const rows = tables.progressIn(ALL_RUNS).filter(({ run }) => shown.has(run));
  return layoutProgress({ runs, rows, estimates: tables.estimates, failures: [], nowS: clock.nowS() });
}
