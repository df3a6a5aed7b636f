/** The progress chart in words: what is printed, what is said aloud, and its tables. */
import { formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { FailureKind } from '../../store';
import type { TextTable } from '../ui/text-table';
import type { Ahead, Eta, PrefixRow, ProgressLayout, ProgressState, ShownCounts } from './layout';

const MAX_ERROR_CHARS = 200;
const MAX_MESSAGE_CHARS = 300;
const MAX_NAME_CHARS = 80;
/** Of what was said longer ago than this, it is said when. */
const STALE_S = 5;

export interface ProgressWords {
  readonly state: string;
  /** `742 of 1,000 tasks`; empty before there is any compute. */
  readonly count: string;
  readonly percent: string;
  readonly elapsed: string;
  readonly eta: string;
  /** `no workers yet, 3 s` */
  readonly live: string;
  readonly running: string;
  /** `4 that no worker can run` */
  readonly stuck: string;
  /** `30 ready (no free thread), 300 waiting for inputs` */
  readonly ahead: string;
  readonly erred: string;
  readonly interrupted: string;
  readonly lost: string;
  /** `20 released (futures deleted)` */
  readonly released: string;
  /** `20 skipped (already computed)` */
  readonly skipped: string;
  readonly error: string;
  /** All of it in one line, for those who do not see the bar. */
  readonly sentence: string;
}

/** Empty texts stand for what need not be shown. */
export function describeProgress(layout: ProgressLayout): ProgressWords {
  const { total, erred, released, lost, nRuns, error, counting } = layout;
  const interrupted = layout.interrupted - lost - released;
  const words = {
    state: layout.cell === undefined ? stateWord(layout.state) : trans.__('In [%1] runs', String(layout.cell)),
    count: countText(layout),
    percent: total > 0 && !counting ? formatPercent(layout.fraction) : '',
    elapsed: nRuns > 0 ? elapsedText(layout) : '',
    eta: layout.liveState !== '' && layout.eta.kind === 'estimating' ? '' : etaText(layout.eta),
    live: layout.liveState,
    running: layout.executing === null ? runningText(layout) : executingText(layout.running, layout.executing),
    stuck: layout.liveState === '' ? stuckText(layout.ahead) : '',
    ahead: aheadText(layout.ahead),
    erred: erred > 0 ? trans.__('%1 failed', formatCount(erred)) : '',
    interrupted: interrupted > 0 ? trans.__('%1 interrupted', formatCount(interrupted)) : '',
    released: releasedText(layout),
    lost: lost > 0 ? trans.__('%1 lost with their worker', formatCount(lost)) : '',
    skipped: skippedText(layout),
    error: error === null ? '' : printable(error, MAX_ERROR_CHARS)
  };
  const { state, percent, eta } = words;
  const elapsed = words.elapsed === '' ? '' : trans.__('%1 elapsed', words.elapsed);
  const said = [words.count, percent, words.live, words.running, words.stuck, words.ahead, words.erred, words.interrupted, words.released, words.lost, words.skipped, elapsed, eta];
  const details = said.filter(text => text !== '').join(', ');
  return { ...words, sentence: details === '' ? state : `${state}: ${details}` };
}

/** How far it is, as short as it can be said: `43% · about 8 s left`, `finished in 3.2 s`. */
export function shortText(layout: ProgressLayout): string {
  switch (layout.state) {
    case 'waiting':
      return stateWord('waiting');
    case 'running': {
      const { liveState, finished, eta } = layout;
      const { percent } = describeProgress(layout);
      if (liveState !== '') {
        return [...(finished > 0 ? [percent] : []), liveState].join(' · ');
      }
      const left = eta.kind === 'estimate' ? [trans.__('about %1 left', formatDuration(coarse(eta.seconds)))] : [];
      return percent === '' ? trans.__('running') : [percent, ...left].join(' · ');
    }
    case 'finished':
      return trans.__('finished in %1', formatDuration(layout.elapsedS));
    case 'erred':
      return trans.__('failed');
    case 'interrupted':
      return trans.__('interrupted');
  }
}

function runningText({ running, atWorkers }: ShownCounts): string {
  if (running === 0) {
    return '';
  }
  return atWorkers ? trans.__('%1 on a worker', formatCount(running)) : trans.__('%1 running', formatCount(running));
}

function executingText(given: number, executing: number): string {
  const waiting = given - executing;
  return [
    executing > 0 ? trans.__('%1 running', formatCount(executing)) : '',
    waiting > 0 ? trans.__('%1 waiting on workers', formatCount(waiting)) : ''
  ].filter(text => text !== '').join(', ');
}

function releasedText({ released }: ShownCounts): string {
  return released === 0 ? '' : trans.__('%1 released (futures deleted)', formatCount(released));
}

function skippedText({ skipped }: ShownCounts): string {
  return skipped === 0 ? '' : trans.__('%1 skipped (already computed)', formatCount(skipped));
}

function countText({ total, finished, skipped, nRuns, counting }: ProgressLayout): string {
  if (counting) {
    return finished > 0 ? trans.__('%1 finished, total not known yet', formatCount(finished)) : trans.__('counting tasks…');
  }
  if (total > 0) {
    return trans._n('%2 of %3 task', '%2 of %3 tasks', total, formatCount(finished), formatCount(total));
  }
  return skipped > 0 ? trans.__('no task had to run') : nRuns > 0 ? trans.__('no tasks') : '';
}

/** The counts of one prefix: `40 / 100`; after the end for how long its tasks ran. */
export function rowNumber(row: PrefixRow, isOver = false): string {
  if (isOver && row.seconds !== null && row.finished === row.total) {
    return formatDuration(row.seconds);
  }
  return `${formatCount(row.finished)} / ${formatCount(row.total)}`;
}

/** What a row's bar shows, in words. */
export function rowSentence(row: PrefixRow): string {
  const parts = [trans.__('%1 of %2 finished', formatCount(row.finished), formatCount(row.total))];
  parts.push(...[runningText(row), stuckText(row.ahead), aheadText(row.ahead)].filter(text => text !== ''));
  if (row.erred > 0) {
    parts.push(trans.__('%1 failed', formatCount(row.erred)));
  }
  if (row.interrupted > row.released) {
    parts.push(trans.__('%1 interrupted', formatCount(row.interrupted - row.released)));
  }
  if (row.released > 0) {
    parts.push(releasedText(row));
  }
  if (row.skipped > 0) {
    parts.push(skippedText(row));
  }
  if (row.seconds !== null && row.seconds > 0) {
    parts.push(trans.__('%1 in its tasks', formatDuration(row.seconds)));
  }
  return parts.join(', ');
}

/** What the rows that are not listed do: `3 running, 1 failed`; empty where nothing. */
export function hiddenText(rows: readonly PrefixRow[]): string {
  const running = rows.filter(row => row.running > 0).length;
  const stuck = rows.filter(row => (row.ahead?.noWorker ?? 0) > 0).length;
  const erred = rows.filter(row => row.erred > 0).length;
  const parts = [
    running > 0 ? trans.__('%1 running', formatCount(running)) : '',
    stuck > 0 ? trans.__('%1 with tasks that no worker can run', formatCount(stuck)) : '',
    erred > 0 ? trans.__('%1 failed', formatCount(erred)) : ''
  ];
  return parts.filter(part => part !== '').join(', ');
}

export function stateWord(state: ProgressState): string {
  return {
    waiting: trans.__('Waiting for a Dask compute'),
    running: trans.__('Running'),
    finished: trans.__('Finished'),
    erred: trans.__('Failed'),
    interrupted: trans.__('Interrupted')
  }[state];
}

/** Digits that change faster than they can be read are left out while time goes on. */
function elapsedText({ state, elapsedS }: ProgressLayout): string {
  return state === 'running' && elapsedS < 59.95
    ? `${elapsedS.toFixed(1)} s`
    : formatDuration(elapsedS);
}

/** How long it will take, without what may change that. */
export function shortEta({ eta }: ProgressLayout): string {
  return etaText(eta.kind === 'estimate' ? { ...eta, nUnseen: 0 } : eta);
}

function etaText(eta: Eta): string {
  switch (eta.kind) {
    case 'none':
      return '';
    case 'estimating':
      return trans.__('too early to estimate');
    case 'estimate': {
      const [guess, high] = [coarse(eta.seconds), coarse(eta.highS)].map(formatDuration);
      const most = trans.__('up to %1', high ?? '');
      return trans.__('about %1 left (%2)', guess ?? '', [most, unseenText(eta.nUnseen)].filter(Boolean).join('; '));
    }
  }
}

/** Of what is not like anything seen nobody knows how long it takes. */
function unseenText(n: number): string {
  return n === 0 ? '' : trans._n('%2 task of a new kind has not run yet, so this may grow', '%2 tasks of new kinds have not run yet, so this may grow', n, formatCount(n));
}

/** Whole seconds, and coarser the further away: an estimate has no more digits than that. */
function coarse(seconds: number): number {
  const step = seconds < 20 ? 1 : seconds < 120 ? 5 : seconds < 7200 ? 60 : 600;
  return Math.ceil(seconds / step) * step;
}

/** What hangs until a worker comes; empty where nothing. */
function stuckText(of: Ahead | null): string {
  if (of === null || of.noWorker === 0) {
    return '';
  }
  return trans.__('%1 that no worker can run', formatCount(of.noWorker));
}

/** What goes on by itself, and of how many tasks and when that was said; empty where nothing is known. */
function aheadText(of: Ahead | null): string {
  if (of === null || (of.isAll && of.queued + of.waiting + of.noWorker === 0)) {
    return '';
  }
  const parts = [
    of.queued > 0 ? trans.__('%1 ready (no free thread)', formatCount(of.queued)) : '',
    of.waiting > 0 ? trans.__('%1 waiting for inputs', formatCount(of.waiting)) : ''
  ];
  const limits = [
    of.isAll ? '' : trans.__('%1 of %2 asked', formatCount(Math.min(of.asked, of.total)), formatCount(of.total)),
    of.ageS < STALE_S ? '' : trans.__('as of %1 ago', formatDuration(Math.floor(of.ageS)))
  ];
  const [counts, limit] = [parts, limits].map(texts => texts.filter(text => text !== '').join(', '));
  return limit === '' ? (counts ?? '') : `${counts ?? ''} (${limit ?? ''})`.trim();
}

/** `ValueError: no: 3 tasks of load, first ('load-1', 0)`. */
export function errorText({ prefix, error, n, first }: FailureKind): string {
  const message = error === null ? trans.__('unknown error') : printable(error, MAX_MESSAGE_CHARS);
  const [name, key] = [printable(prefix, MAX_NAME_CHARS), printable(first.key, MAX_NAME_CHARS)];
  return trans._n('%2: task %5', '%2: %3 tasks of %4, first %5', n, message, formatCount(n), name, key);
}

/** A table of the prefixes, and one of what went wrong where anything did. */
export function progressTables({ prefixes, errors }: ProgressLayout): TextTable[] {
  const isTold = prefixes.some(row => row.ahead !== null);
  const areSkipped = prefixes.some(row => row.skipped > 0);
  const byPrefix: TextTable = {
    caption: trans._n('%2 task type', '%2 task types', prefixes.length, formatCount(prefixes.length)),
    columns: [
      ...[trans.__('Task type'), trans.__('Tasks'), trans.__('Finished'), trans.__('Running'), trans.__('Failed'), trans.__('Interrupted, lost or released')],
      ...(areSkipped ? [trans.__('Skipped')] : []),
      ...(isTold ? [trans.__('No worker can run them'), trans.__('Ready, no free thread'), trans.__('Waiting for inputs'), trans.__('Of how many asked')] : [])
    ],
    rows: prefixes.map(({ prefix, ahead, ...counts }) => [
      printable(prefix),
      ...[counts.total, counts.finished, counts.running, counts.erred, counts.interrupted].map(String),
      ...(areSkipped ? [String(counts.skipped)] : []),
      ...(isTold ? [ahead?.noWorker, ahead?.queued, ahead?.waiting, ahead?.asked].map(n => (n === undefined ? '' : String(n))) : [])
    ])
  };
  const rows = errors.map(({ prefix, error, n, first }) => [printable(prefix), error === null ? trans.__('unknown error') : printable(error), String(n), printable(first.key)]);
  return rows.length === 0 ? [byPrefix] : [byPrefix, { caption: trans.__('Errors'), columns: [trans.__('Task type'), trans.__('Error'), trans.__('Tasks'), trans.__('First task')], rows }];
}
