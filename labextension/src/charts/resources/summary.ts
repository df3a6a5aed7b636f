/** CPU and memory of some computes in numbers: now, most, limits, and where nothing was measured. */
import { formatBytes, formatCount, formatDuration, formatPercent } from '../../lib/format';
import type { Span } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { ResourceStore, RunWindow, Tables } from '../../store';
import { inWindow } from '../../store';
import type { Peak } from '../timeline/value-track';
import { peakOf } from '../timeline/value-track';
import type { TextTable } from '../ui/tables';

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
  let nGaps = 0;
  let gapS = 0;
  for (let i = from + 1; i < to; i += 1) {
    if (store.gap[i] === 1) {
      nGaps += 1;
      gapS += (store.timeS[i] as number) - (store.timeS[i - 1] as number);
    }
  }
  const peak = (valueAt: (i: number) => number): Peak | null => peakOf({ timeS: store.timeS, range: [from, to], valueAt });
  const last = to - 1;
  return {
    n: to - from,
    nCores: store.nCores,
    limitBytes: store.limitBytes,
    cpuShare: cpuShareOf(store, last),
    rssBytes: store.rssBytes[last] ?? 0,
    nProcesses: store.nProcesses[last] ?? 0,
    cpuPeak: peak(i => cpuShareOf(store, i) ?? NaN),
    rssPeak: peak(i => store.rssBytes[i] as number) ?? { value: 0, timeS: 0 },
    nGaps,
    gapS
  };
}

const MAX_SAMPLES = 10_000;

/** CPU as a percentage, exact where `formatPercent` would only say that it is not quite all. */
export function formatCpu(share: number | null): string {
  return share === null || share <= 1 ? formatPercent(share) : `${Math.round(share * 100)}%`;
}

/** What 100% of CPU is. */
export function coresText({ nCores }: Pick<ResourceSummary, 'nCores'>): string {
  if (nCores === null) {
    return trans.__('100% = one core');
  }
  return trans._n('100% = the one core available', '100% = all %2 cores available', nCores, formatCount(nCores));
}

/** What was not measured; empty where all was. */
export function gapText({ nGaps, gapS }: ResourceSummary): string {
  if (nGaps === 0) {
    return '';
  }
  const length = formatDuration(gapS);
  return trans._n(
    '%2 gap of %3 without samples (striped); a memory peak in it was not seen',
    '%2 gaps, %3 altogether, without samples (striped); a memory peak in one was not seen', nGaps, formatCount(nGaps), length
  );
}

export function processText({ nProcesses }: ResourceSummary): string {
  return nProcesses > 1 ? trans._n('%2 process; shared memory counted more than once', '%2 processes; shared memory counted more than once', nProcesses, formatCount(nProcesses)) : '';
}

/** What there is now, or at the end, with peaks and limits. */
export function summaryText(summary: ResourceSummary, growing: boolean): string {
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const cpu = trans.__('CPU %1, peak %2, %3', formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), coresText(summary));
  const memory = trans.__('memory %1, peak %2, limit %3', formatBytes(rssBytes), formatBytes(rssPeak.value), formatBytes(limitBytes));
  return `${growing ? trans.__('Now') : trans.__('At the end')}: ${cpu}; ${memory}`;
}

/** Every sample, the latest where there are too many, in plain numbers. */
export function sampleTable(store: ResourceStore, span: Span, zeroS: number): TextTable {
  const [first, to] = store.within(span);
  const from = Math.max(first, to - MAX_SAMPLES);
  const number = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? '' : String(value));
  const rows = Array.from({ length: to - from }, (_, k) => {
    const i = from + k;
    const timeS = (store.timeS[i] ?? NaN) - zeroS;
    return [timeS.toFixed(3), number(store.cpuPercent[i]), number(store.rssBytes[i]), number(store.nProcesses[i]), store.gap[i] === 1 ? trans.__('yes') : trans.__('no')];
  });
  const columns = [trans.__('Time (s)'), trans.__('CPU (% of one core)'), trans.__('Resident memory (bytes)'), trans.__('Processes'), trans.__('After a gap')];
  const all = to - first;
  const caption = from > first ? trans.__('The last %1 of %2 samples', formatCount(rows.length), formatCount(all)) : trans._n('%2 sample', '%2 samples', all, formatCount(all));
  return { caption, columns, rows };
}

/** The same as rows of a table. */
export function tableRows(summary: ResourceSummary, zeroS: number): string[][] {
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const at = (timeS: number | undefined): string => (timeS === undefined ? formatDuration(null) : formatDuration(timeS - zeroS));
  return [
    [trans.__('CPU, %1', coresText(summary)), formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), at(cpuPeak?.timeS), '100%'],
    [trans.__('Memory'), formatBytes(rssBytes), formatBytes(rssPeak.value), at(rssPeak.timeS), formatBytes(limitBytes)]
  ];
}
