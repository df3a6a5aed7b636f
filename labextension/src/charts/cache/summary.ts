/** What was held in numbers: now, at its most, and which groups made that up; pure. */
import { formatBytes, formatCount, formatDuration, formatShares, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { HeldMoments, Measure, RunWindow, TaskStore } from '../../store';
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
  return store.tables.runsIn(window).find(({ metric }) => metric !== null)?.metric ?? null;
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

const MAX_PARTS = 4;

/** A metric has no unit that we know: five digits, thousands separated. */
function formatMetric(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 5 });
}

/** How amounts of a measure are written. */
export function formatterOf(measure: Measure): (amount: number) => string {
  return { bytes: formatBytes, count: (amount: number) => formatCount(Math.round(amount)), metric: formatMetric }[measure];
}

export function measureName(measure: Measure, metric: string | null): string {
  return { bytes: trans.__('Bytes'), count: trans.__('Count'), metric: printable(metric ?? trans.__('Metric'), 40) }[measure];
}

export function titleText(measure: Measure, metric: string | null, isOnCluster: boolean): string {
  if (isOnCluster) {
    return trans.__('On the workers · %1', measure === 'bytes' ? trans.__('bytes') : trans.__('results'));
  }
  return {
    bytes: trans.__('Kept by the scheduler · bytes'),
    count: trans.__('Kept by the scheduler · results'),
    metric: trans.__('Kept by the scheduler · %1', measureName(measure, metric))
  }[measure];
}

/** An amount with the name of the metric, or of results, so that it reads by itself. */
export function amountText(measure: Measure, amount: number, metric: string | null): string {
  const text = formatterOf(measure)(amount);
  return { bytes: text, count: trans._n('%2 result', '%2 results', amount, text), metric: `${text} ${measureName(measure, metric)}` }[measure];
}

/** How many results are left out of a sum; empty where none is. */
export function unknownText(measure: Measure, unknown: number, metric: string | null): string {
  if (unknown === 0 || measure === 'count') {
    return '';
  }
  const n = formatCount(unknown);
  if (measure === 'metric') {
    const name = measureName(measure, metric);
    return trans._n('%2 result without a value of %3', '%2 results without a value of %3', unknown, n, name);
  }
  return trans._n('%2 result of unknown size', '%2 results of unknown size', unknown, n);
}

/** Whether there were results of which nobody knows how much they are, and no others. */
export function isAllUnknown({ measure, peak }: Pick<HeldSummary, 'measure' | 'peak'>): boolean {
  return peak.total === 0 && peak.unknown > 0 && measure !== 'count';
}

export function allUnknownText(measure: Measure, metric: string | null): string {
  return measure === 'bytes' ? trans.__('all sizes are unknown') : trans.__('all values of %1 are unknown', measureName(measure, metric));
}

/** What is held now. */
export function nowText({ measure, total, unknown, nKeys }: HeldSummary, metric: string | null, growing: boolean): string {
  if (!growing && nKeys === 0) {
    return trans.__('none in memory now');
  }
  const keys = measure === 'count' ? '' : amountText('count', nKeys, metric);
  const parts = [amountText(measure, total, metric), keys, unknownText(measure, unknown, metric)];
  return trans.__('now %1', parts.filter(part => part !== '').join(' · '));
}

/** The most that was held, when, and which prefixes made it up. */
export function peakText(
  { measure, peak, isLowerBound }: HeldSummary,
  prefixes: readonly (readonly [prefix: string, amount: number])[],
  metric: string | null,
  zeroS: number
): string {
  if (isAllUnknown({ measure, peak })) {
    return trans.__('Peak not known: %1', allUnknownText(measure, metric));
  }
  const amount = amountText(measure, peak.total, metric);
  const head = isLowerBound
    ? trans.__('Peak at least %1 at %2', amount, formatDuration(peak.timeS - zeroS))
    : trans.__('Peak %1 at %2', amount, formatDuration(peak.timeS - zeroS));
  const format = formatterOf(measure);
  const shares = formatShares(prefixes.map(([, part]) => part), peak.total);
  const parts = prefixes.slice(0, MAX_PARTS).map(([prefix, part], i) => {
    const share = peak.total > 0 ? ` (${shares[i]})` : '';
    return `${printable(prefix, 60)} ${format(part)}${share}`;
  });
  const rest = prefixes.length - parts.length;
  if (rest > 0) {
    parts.push(trans._n('%2 more task type', '%2 more task types', rest, formatCount(rest)));
  }
  const unknown = unknownText(measure, peak.unknown, metric);
  return [`${head}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`, unknown].filter(part => part !== '').join(' · ');
}
