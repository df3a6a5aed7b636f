/** CPU and memory of some computes in numbers: now, most, limits, and where nothing was measured. */
import type { Span } from '../../lib/span';
import type { ResourceStore, RunWindow, Tables } from '../../store';
import { inWindow } from '../../store';

export interface ResourceSummary {
  readonly n: number;
  readonly nCores: number | null;
  readonly limitBytes: number | null;
  /** Of the last sample. Shares are of the available cores, or of one core where their number is not known. */
  readonly cpuShare: number | null;
  readonly rssBytes: number;
  readonly nProcesses: number;
  readonly cpuPeak: Peak | null;
  readonly rssPeak: Peak;
  readonly nGaps: number;
  /** Seconds of all gaps together. */
  readonly gapS: number;
}

export interface Peak {
  readonly value: number;
  readonly timeS: number;
}


/**
 * The time whose samples belong to these computes. The last sample of a compute comes right after its end, and
 * none are taken between computes.
 */
export function sampleSpan({ runs }: Tables, window: RunWindow): Span | null {
  const own = [...runs.values()].filter(run => inWindow(run.run, window));
  if (own.length === 0) {
    return null;
  }
  const startS = own.reduce((least, run) => Math.min(least, run.startS ?? Infinity), Infinity);
  const lastS = own.reduce((most, run) => Math.max(most, run.stopS ?? Infinity), -Infinity);
  const nextS = [...runs.values()]
    .filter(run => !inWindow(run.run, window) && (run.startS ?? -Infinity) >= lastS)
    .reduce((least, run) => Math.min(least, run.startS ?? Infinity), Infinity);
  return { startS, stopS: nextS };
}

/** CPU of a sample in cores' worth of the cores there are; null: unknown. */
export function cpuShareOf(store: ResourceStore, i: number): number | null {
  const percent = store.cpuPercent[i] ?? NaN;
  return Number.isNaN(percent) ? null : percent / 100 / (store.nCores ?? 1);
}

/** Work out the numbers; null without a sample. */
export function summariseResources(store: ResourceStore, span: Span): ResourceSummary | null {
  const [from, to] = store.within(span);
  if (from >= to) {
    return null;
  }
  let cpu = -1;
  let rss = from;
  let nGaps = 0;
  let gapS = 0;
  for (let i = from; i < to; i += 1) {
    if ((store.rssBytes[i] as number) > (store.rssBytes[rss] as number)) {
      rss = i;
    }
    const percent = store.cpuPercent[i] as number;
    if (!Number.isNaN(percent) && (cpu < 0 || percent > (store.cpuPercent[cpu] as number))) {
      cpu = i;
    }
    if (store.gap[i] === 1 && i > from) {
      nGaps += 1;
      gapS += (store.timeS[i] as number) - (store.timeS[i - 1] as number);
    }
  }
  const last = to - 1;
  return {
    n: to - from,
    nCores: store.nCores,
    limitBytes: store.limitBytes,
    cpuShare: cpuShareOf(store, last),
    rssBytes: store.rssBytes[last] ?? 0,
    nProcesses: store.nProcesses[last] ?? 0,
    cpuPeak: cpu < 0 ? null : { value: cpuShareOf(store, cpu) ?? 0, timeS: store.timeS[cpu] ?? 0 },
    rssPeak: { value: store.rssBytes[rss] ?? 0, timeS: store.timeS[rss] ?? 0 },
    nGaps,
    gapS
  };
}

/** Whether a sample continues the one before it: the first of a compute does not, nor one after a gap. */
export function continues(store: ResourceStore, i: number): boolean {
  return !Number.isNaN(store.cpuPercent[i]) && store.gap[i] !== 1;
}
