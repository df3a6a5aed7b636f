/** What tasks of a cluster wait for that no worker has: counts, and the words for them. */
import { formatCount, formatDuration } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { PrefixProgress } from '../../wire';

/** Of what was said longer ago than this, it is said when. */
const STALE_S = 5;

/** Tasks that have neither ended nor are with a worker. */
export interface Ahead {
  /** How many there are, and about how many of them the scheduler was asked. */
  readonly total: number;
  readonly asked: number;
  /** Whether it was asked about all of them. */
  readonly isAll: boolean;
  /** How long ago it said so; of several answers the oldest. */
  readonly ageS: number;
  readonly queued: number;
  readonly waiting: number;
  readonly noWorker: number;
}

/** The sums over rows; null where nobody knows, or there are no such tasks. */
export function sumAhead(rows: readonly PrefixProgress[], nowS: number): Ahead | null {
  const parts = rows.map(row => ({ total: ahead(row), told: row.scheduled })).filter(part => part.total > 0);
  const told = parts.flatMap(part => part.told ?? []);
  if (told.length === 0) {
    return null;
  }
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  return {
    total: sum(parts.map(part => part.total)),
    asked: sum(told.map(part => part.asked)),
    isAll: told.length === parts.length && told.every(part => part.isAll),
    ageS: Math.max(nowS - Math.min(...told.map(part => part.timeS)), 0),
    queued: sum(told.map(part => part.queued)),
    waiting: sum(told.map(part => part.waiting)),
    noWorker: sum(told.map(part => part.noWorker))
  };
}

function ahead({ total, finished, erred, interrupted, running }: PrefixProgress): number {
  return Math.max(total - finished - erred - interrupted - running, 0);
}

/** What hangs until a worker comes; empty where nothing. */
export function stuckText(of: Ahead | null, translate: Translate): string {
  if (of === null || of.noWorker === 0) {
    return '';
  }
  return of.noWorker === 1 ? translate('1 fits no worker') : translate('%1 fit no worker', formatCount(of.noWorker));
}

/** What goes on by itself, and of how many tasks and when that was said; empty where nothing is known. */
export function aheadText(of: Ahead | null, translate: Translate): string {
  if (of === null || (of.isAll && of.queued + of.waiting + of.noWorker === 0)) {
    return '';
  }
  const parts = [
    of.queued > 0 ? translate('%1 queued', formatCount(of.queued)) : '',
    of.waiting > 0 ? translate('%1 waiting', formatCount(of.waiting)) : ''
  ];
  const limits = [
    of.isAll ? '' : translate('%1 of %2 asked', formatCount(Math.min(of.asked, of.total)), formatCount(of.total)),
    of.ageS < STALE_S ? '' : translate('%1 ago', formatDuration(Math.floor(of.ageS)))
  ];
  const [counts, limit] = [parts, limits].map(texts => texts.filter(text => text !== '').join(', '));
  return limit === '' ? (counts ?? '') : `${counts ?? ''} (${limit ?? ''})`.trim();
}
