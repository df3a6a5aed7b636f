/** The sentences of the chart of CPU and memory. */
import { formatBytes, formatCount, formatDuration, formatPercent } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { Span } from '../../lib/span';
import type { ResourceStore } from '../../store';
import type { TextTable } from '../ui/tables';
import type { ResourceSummary } from './summary';

const MAX_SAMPLES = 10_000;

/** CPU as a percentage, exact where `formatPercent` would only say that it is not quite all. */
export function formatCpu(share: number | null): string {
  return share === null || share <= 1 ? formatPercent(share) : `${Math.round(share * 100)}%`;
}

/** What 100% of CPU is. */
export function coresText({ nCores }: Pick<ResourceSummary, 'nCores'>, t: Translate): string {
  if (nCores === null) {
    return t('100% = one core');
  }
  return nCores === 1 ? t('100% = the one core available') : t('100% = all %1 cores available', formatCount(nCores));
}

/** What was not measured; empty where all was. */
export function gapText({ nGaps, gapS }: ResourceSummary, t: Translate): string {
  if (nGaps === 0) {
    return '';
  }
  const length = formatDuration(gapS);
  return nGaps === 1
    ? t('1 gap of %1 without samples (striped); a memory peak in it was not seen', length)
    : t('%1 gaps, %2 altogether, without samples (striped); a memory peak in one was not seen', formatCount(nGaps), length);
}

export function processText({ nProcesses }: ResourceSummary, t: Translate): string {
  return nProcesses > 1 ? t('%1 processes; memory they share is counted in each', formatCount(nProcesses)) : '';
}

/** The chart in one sentence, for those who do not see it. */
export function labelText(summary: ResourceSummary, growing: boolean, t: Translate): string {
  const keys = t('Arrows or A and D pan, plus and minus zoom, Shift with arrows reads values, Home shows all, F follows.');
  return `${summaryText(summary, growing, t)}. ${keys}`;
}

/** What there is now, or at the end, with peaks and limits. */
export function summaryText(summary: ResourceSummary, growing: boolean, t: Translate): string {
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const cpu = t('CPU %1, peak %2, %3', formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), coresText(summary, t));
  const memory = t('memory %1, peak %2, limit %3', formatBytes(rssBytes), formatBytes(rssPeak.value), formatBytes(limitBytes));
  return `${growing ? t('Now') : t('At the end')}: ${cpu}; ${memory}`;
}

/** Every sample, the latest where there are too many, in plain numbers. */
export function sampleTable(store: ResourceStore, span: Span, zeroS: number, t: Translate): TextTable {
  const [first, to] = store.within(span);
  const from = Math.max(first, to - MAX_SAMPLES);
  const number = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? '' : String(value));
  const rows = Array.from({ length: to - from }, (_, k) => {
    const i = from + k;
    const timeS = (store.timeS[i] ?? NaN) - zeroS;
    return [timeS.toFixed(3), number(store.cpuPercent[i]), number(store.rssBytes[i]), number(store.nProcesses[i]), store.gap[i] === 1 ? t('yes') : t('no')];
  });
  const columns = [t('Time (s)'), t('CPU (% of one core)'), t('Resident memory (bytes)'), t('Processes'), t('After a gap')];
  const all = to - first;
  const caption = from > first ? t('The last %1 of %2 samples', formatCount(rows.length), formatCount(all)) : t('%1 samples', formatCount(all));
  return { caption, columns, rows };
}

/** The same as rows of a table. */
export function tableRows(summary: ResourceSummary, zeroS: number, t: Translate): string[][] {
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const at = (timeS: number | undefined): string => (timeS === undefined ? formatDuration(null) : formatDuration(timeS - zeroS));
  return [
    [t('CPU, %1', coresText(summary, t)), formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), at(cpuPeak?.timeS), '100%'],
    [t('Memory'), formatBytes(rssBytes), formatBytes(rssPeak.value), at(rssPeak.timeS), formatBytes(limitBytes)]
  ];
}
