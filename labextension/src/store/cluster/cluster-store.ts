/** What a page knows of a cluster besides its tasks. */
import type { PrefixSeconds, PageTables } from '../../wire';
import { tableRows } from '../../wire';
import { inWindow, type RunWindow } from '../tables';
import { ActivityStore } from './activity-store';
import { WorkerStore } from './worker-store';

/** Seconds of one prefix by activity, and all of them together. */
export interface SecondsOfPrefix {
  readonly prefix: string;
  readonly seconds: ReadonlyMap<string, number>;
  readonly totalS: number;
}

/** How long workers spent on what in executing tasks, by compute and prefix. */
class MetricStore {
  version = 0;
  /** Of each compute, by prefix and activity. */
  readonly #runs = new Map<number, Map<string, Map<string, number>>>();

  /** Take sums; they replace those that were told before. */
  append(rows: readonly PrefixSeconds[]): void {
    this.version += Number(rows.length > 0);
    for (const { run, prefix, activity, seconds } of rows) {
      const prefixes = this.#runs.get(run) ?? new Map<string, Map<string, number>>();
      const sums = prefixes.get(prefix) ?? new Map<string, number>();
      this.#runs.set(run, prefixes.set(prefix, sums.set(activity, seconds)));
    }
  }

  /** The prefixes of some computes, that of most seconds first. */
  byPrefix(window: RunWindow): SecondsOfPrefix[] {
    const found = new Map<string, Map<string, number>>();
    for (const [run, prefixes] of this.#runs) {
      for (const [prefix, sums] of inWindow(run, window) ? prefixes : []) {
        const all = found.get(prefix) ?? new Map<string, number>();
        found.set(prefix, all);
        sums.forEach((seconds, activity) => all.set(activity, (all.get(activity) ?? 0) + seconds));
      }
    }
    return [...found]
      .map(([prefix, seconds]) => ({ prefix, seconds, totalS: [...seconds.values()].reduce((sum, each) => sum + each, 0) }))
      .filter(({ totalS }) => totalS > 0)
      .sort((a, b) => b.totalS - a.totalS);
  }
}

export class ClusterStore {
  activities = new ActivityStore();
  workers = new WorkerStore();
  metrics = new MetricStore();

  append(tables: PageTables): void {
    this.activities.append(tables);
    this.workers.append(tables);
    this.metrics.append(tableRows(tables, 'metrics'));
  }

  clear(): void {
    this.activities = new ActivityStore();
    this.workers = new WorkerStore();
    this.metrics = new MetricStore();
  }
}
