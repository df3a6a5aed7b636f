/** The sentences of the chart of what the scheduler holds. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { Measure } from '../../store';
import type { HeldSummary } from './summary';

const MAX_PARTS = 4;

/** A metric has no unit that we know: five digits, thousands separated. */
export function formatMetric(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 5 });
}

/** How amounts of a measure are written. */
export function formatterOf(measure: Measure): (amount: number) => string {
  switch (measure) {
    case 'bytes':
      return formatBytes;
    case 'count':
      return amount => formatCount(Math.round(amount));
    case 'metric':
      return formatMetric;
  }
}

export function measureName(measure: Measure, metric: string | null, t: Translate): string {
  switch (measure) {
    case 'bytes':
      return t('Bytes');
    case 'count':
      return t('Keys');
    case 'metric':
      return printable(metric ?? t('Metric'), 40);
  }
}

export function titleText(measure: Measure, metric: string | null, isOnCluster: boolean, t: Translate): string {
  if (isOnCluster) {
    return t('Held by the workers · %1', measure === 'bytes' ? t('bytes') : t('keys'));
  }
  switch (measure) {
    case 'bytes':
      return t('Held by the scheduler · bytes');
    case 'count':
      return t('Held by the scheduler · keys');
    case 'metric':
      return t('Held by the scheduler · %1', measureName(measure, metric, t));
  }
}

/** An amount with the name of the metric, or with keys, so that it reads by itself. */
export function amountText(measure: Measure, amount: number, metric: string | null, t: Translate): string {
  const text = formatterOf(measure)(amount);
  switch (measure) {
    case 'bytes':
      return text;
    case 'count':
      return amount === 1 ? t('1 key') : t('%1 keys', text);
    case 'metric':
      return `${text} ${measureName(measure, metric, t)}`;
  }
}

/** How many keys are left out of a sum; empty where none is. */
export function unknownText(measure: Measure, unknown: number, metric: string | null, t: Translate): string {
  if (unknown === 0 || measure === 'count') {
    return '';
  }
  const n = formatCount(unknown);
  if (measure === 'metric') {
    const name = measureName(measure, metric, t);
    return unknown === 1 ? t('1 key without a value of %1', name) : t('%1 keys without a value of %2', n, name);
  }
  return unknown === 1 ? t('1 key of unknown size') : t('%1 keys of unknown size', n);
}

/** What is held now. */
export function nowText({ measure, total, unknown, nKeys }: HeldSummary, metric: string | null, growing: boolean, t: Translate): string {
  if (!growing && nKeys === 0) {
    return t('nothing is held any more');
  }
  const keys = measure === 'count' ? '' : amountText('count', nKeys, metric, t);
  const parts = [amountText(measure, total, metric, t), keys, unknownText(measure, unknown, metric, t)];
  return t('now %1', parts.filter(part => part !== '').join(' · '));
}

/** The most that was held, when, and which prefixes made it up. */
export function peakText(
  { measure, peak, isLowerBound }: HeldSummary,
  prefixes: readonly (readonly [prefix: string, amount: number])[],
  metric: string | null,
  zeroS: number,
  t: Translate
): string {
  if (peak.total === 0 && peak.unknown > 0 && measure !== 'count') {
    return measure === 'bytes'
      ? t('Peak not known: all sizes are unknown')
      : t('Peak not known: all values of %1 are unknown', measureName(measure, metric, t));
  }
  const amount = amountText(measure, peak.total, metric, t);
  const head = isLowerBound
    ? t('Peak at least %1 at %2', amount, formatDuration(peak.timeS - zeroS))
    : t('Peak %1 at %2', amount, formatDuration(peak.timeS - zeroS));
  const format = formatterOf(measure);
  const parts = prefixes.slice(0, MAX_PARTS).map(([prefix, part]) => {
    const share = peak.total > 0 ? ` (${formatPercent(part / peak.total)})` : '';
    return `${printable(prefix, 60)} ${format(part)}${share}`;
  });
  const rest = prefixes.length - parts.length;
  if (rest > 0) {
    parts.push(rest === 1 ? t('1 more prefix') : t('%1 more prefixes', formatCount(rest)));
  }
  const unknown = unknownText(measure, peak.unknown, metric, t);
  return [`${head}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`, unknown].filter(part => part !== '').join(' · ');
}

/** The chart in one sentence, for those who do not see it. */
export function labelText(now: string, peak: string, isOnCluster: boolean, t: Translate): string {
  const keys = t('Arrows or A and D pan, plus and minus zoom, Shift with arrows reads values, Home shows all, F follows.');
  const label = isOnCluster ? t('What the workers hold') : t('What the scheduler holds');
  return `${label}: ${now}. ${peak}. ${keys}`;
}
