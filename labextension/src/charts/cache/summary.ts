/** What was held in numbers: now, at its most, and which groups made that up; pure. */
import type { HeldMoments, Measure, RunWindow, TaskStore } from '../../store';
import { inWindow } from '../../store';
import { isOnCluster } from '../../wire';

export interface HeldPeak {
  readonly timeS: number;
  readonly total: number;
  /** Keys that are not in the total, for nobody knows how much they are. */
  readonly unknown: number;
  readonly nKeys: number;
  /** Groups by number, largest first, with what each had. */
  readonly groups: readonly (readonly [group: number, amount: number])[];
}

export interface HeldSummary {
  readonly measure: Measure;
  readonly total: number;
  readonly unknown: number;
  readonly nKeys: number;
  readonly peak: HeldPeak;
  /** Whether the peak is only the most at the moments that are known: computes ran at the same time, or on a cluster. */
  readonly isLowerBound: boolean;
  /** Whether it is workers of a cluster that held it, as far as was seen. */
  readonly isOnCluster: boolean;
}

/** Work out the numbers; null while nothing was ever held. */
export function summariseHeld(store: TaskStore, window: RunWindow, moments: HeldMoments): HeldSummary | null {
  const last = moments.n - 1;
  if (last < 0) {
    return null;
  }
  const { peak, total, unknown, nKeys } = moments;
  const groups = Array.from(moments.groupsAt(peak), (amount, group) => [group, amount] as const).filter(([, amount]) => amount > 0).sort((a, b) => b[1] - a[1]);
  const isOnCluster = onCluster(store, window);
  return {
    measure: moments.measure, total: total[last] as number, unknown: unknown[last] as number, nKeys: nKeys[last] as number,
    peak: { timeS: moments.timeS[peak] as number, total: total[peak] as number, unknown: unknown[peak] as number, nKeys: nKeys[peak] as number, groups },
    isOnCluster, isLowerBound: isOnCluster || overlap(store, window)
  };
}

/** The name of the users' metric of these computes; null without one. */
export function metricName(store: TaskStore, window: RunWindow): string | null {
  for (const [run, name] of store.held.metrics) {
    if (inWindow(run, window)) {
      return name;
    }
  }
  return null;
}

/** Adds up groups of one prefix, largest first. */
export function byPrefix(store: TaskStore, groups: HeldPeak['groups']): [prefix: string, amount: number][] {
  const sums = new Map<string, number>();
  for (const [group, amount] of groups) {
    const prefix = store.tables.groups[group]?.prefix ?? '?';
    sums.set(prefix, (sums.get(prefix) ?? 0) + amount);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** Whether any of these computes ran on a cluster. */
export function onCluster(store: TaskStore, window: RunWindow): boolean {
  return store.tables.runsIn(window).some(isOnCluster);
}

function overlap(store: TaskStore, window: RunWindow): boolean {
  let reachedS = -Infinity;
  return store.tables.runsIn(window).some(({ startS, stopS }) => {
    const early = (startS ?? 0) < reachedS;
    reachedS = Math.max(reachedS, stopS ?? Infinity);
    return early;
  });
}
