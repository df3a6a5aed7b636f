/** What was held in numbers: now, at its most, and which groups made that up; pure. */
import type { Measure, RunWindow, TaskStore } from '../../store';
import { inWindow, walkHeld } from '../../store';
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
export function summariseHeld(store: TaskStore, window: RunWindow, measure: Measure): HeldSummary | null {
  const { held } = store;
  let peakTotal = -1;
  let peakS = 0;
  let last = { total: 0, unknown: 0, nKeys: 0 };
  walkHeld(held, window, measure, ({ timeS, total, unknown, nKeys }) => {
    if (total > peakTotal) {
      peakTotal = total;
      peakS = timeS;
    }
    last = { total, unknown, nKeys };
  });
  if (peakTotal < 0) {
    return null;
  }
  const peak = peakAt(store, window, measure, peakS);
  const isOnCluster = onCluster(store, window);
  return { measure, ...last, peak, isOnCluster, isLowerBound: isOnCluster || overlap(store, window) };
}

/** A second walk, so that groups are copied once and not at each new peak. */
function peakAt(store: TaskStore, window: RunWindow, measure: Measure, peakS: number): HeldPeak {
  const found: HeldPeak[] = [];
  walkHeld(store.held, window, measure, ({ timeS, total, unknown, nKeys, byGroup }) => {
    if (timeS === peakS) {
      const groups = Array.from(byGroup, (amount, group) => [group, amount] as const).filter(([, amount]) => amount > 0).sort((a, b) => b[1] - a[1]);
      found.push({ timeS, total, unknown, nKeys, groups });
    }
  });
  return found[0] ?? { timeS: peakS, total: 0, unknown: 0, nKeys: 0, groups: [] };
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
