/** The sentences of the chart of CPU and memory. */
import { formatBytes, formatCount, formatDuration, formatPercent } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { ResourceSummary } from './summary';

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
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const cpu = t('CPU %1, peak %2, %3', formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), coresText(summary, t));
  const memory = t('memory %1, peak %2, limit %3', formatBytes(rssBytes), formatBytes(rssPeak.value), formatBytes(limitBytes));
  const keys = t('Arrows or A and D pan, plus and minus zoom, Shift with arrows reads values, Home shows all, F follows.');
  return `${growing ? t('Now') : t('At the end')}: ${cpu}; ${memory}. ${keys}`;
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
