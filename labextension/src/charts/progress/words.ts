/** The progress chart in words: what is printed, and what is said aloud. */
import { formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import { aheadText, stuckText } from './ahead';
import type { Eta, OthersCounts, PrefixRow, ProgressLayout, ProgressState, ShownCounts } from './layout';

const MAX_ERROR_CHARS = 200;

export interface ProgressWords {
  readonly state: string;
  /** `742 of 1,000 tasks`; empty before there is any compute. */
  readonly count: string;
  readonly percent: string;
  readonly elapsed: string;
  readonly eta: string;
  readonly running: string;
  /** `4 fit no worker` */
  readonly stuck: string;
  /** `30 queued, 300 waiting` */
  readonly ahead: string;
  readonly erred: string;
  readonly interrupted: string;
  readonly lost: string;
  /** `20 did not have to run` */
  readonly spared: string;
  readonly runs: string;
  /** `other clients: 12 tasks ended (1 erred), 2 processing` */
  readonly others: string;
  readonly error: string;
  /** All of it in one line, for those who do not see the bar. */
  readonly sentence: string;
}

/** Empty texts stand for what need not be shown. */
export function describeProgress(layout: ProgressLayout, translate: Translate): ProgressWords {
  const { total, erred, interrupted, lost, nRuns, error, counting } = layout;
  const words = {
    state: stateWord(layout.state, translate),
    count: countText(layout, translate),
    percent: total > 0 && !counting ? formatPercent(layout.fraction) : '',
    elapsed: nRuns > 0 ? translate('%1 elapsed', elapsedText(layout)) : '',
    eta: etaText(layout.eta, translate),
    running: runningText(layout, translate),
    stuck: stuckText(layout.ahead, translate),
    ahead: aheadText(layout.ahead, translate),
    erred: erred > 0 ? translate('%1 erred', formatCount(erred)) : '',
    interrupted: interrupted > lost ? translate('%1 interrupted', formatCount(interrupted - lost)) : '',
    lost: lost > 0 ? translate('%1 lost with their worker', formatCount(lost)) : '',
    spared: sparedText(layout, translate),
    runs: nRuns > 1 ? translate('%1 computes', formatCount(nRuns)) : '',
    others: othersText(layout.others, translate),
    error: error === null ? '' : printable(error, MAX_ERROR_CHARS)
  };
  const { state, percent, eta, elapsed } = words;
  const said = [words.count, percent, words.running, words.stuck, words.ahead, words.erred, words.interrupted, words.lost, words.spared, elapsed, eta, words.others];
  const details = said.filter(text => text !== '').join(', ');
  return { ...words, sentence: details === '' ? state : `${state}: ${details}` };
}

function runningText({ running, atWorkers }: ShownCounts, translate: Translate): string {
  if (running === 0) {
    return '';
  }
  return atWorkers ? translate('%1 processing', formatCount(running)) : translate('%1 running', formatCount(running));
}

function sparedText({ spared }: ShownCounts, translate: Translate): string {
  return spared === 0 ? '' : translate('%1 did not have to run', formatCount(spared));
}

function countText({ total, finished, spared, nRuns, counting }: ProgressLayout, translate: Translate): string {
  if (counting) {
    return finished > 0 ? translate('%1 finished, total not known yet', formatCount(finished)) : translate('counting tasks…');
  }
  if (total > 0) {
    return translate('%1 of %2 tasks', formatCount(finished), formatCount(total));
  }
  return spared > 0 ? translate('no task had to run') : nRuns > 0 ? translate('no tasks') : '';
}

function othersText(others: OthersCounts | null, translate: Translate): string {
  if (others === null) {
    return '';
  }
  const { ended, erred, running } = others;
  const parts = [
    ended === 1 ? translate('1 task ended') : translate('%1 tasks ended', formatCount(ended)),
    erred > 0 ? translate('%1 erred', formatCount(erred)) : '',
    running > 0 ? translate('%1 processing', formatCount(running)) : ''
  ];
  return translate('other clients: %1', parts.filter(part => part !== '').join(', '));
}

/** The counts of one prefix: `40 / 100`. */
export function rowCount(row: PrefixRow): string {
  return `${formatCount(row.finished)} / ${formatCount(row.total)}`;
}

/** The same, with what hangs: `40 / 100 · 4 fit no worker`. */
export function rowNumber(row: PrefixRow, translate: Translate): string {
  return [rowCount(row), stuckText(row.ahead, translate)].filter(text => text !== '').join(' · ');
}

/** What a row's bar shows, in words. */
export function rowSentence(row: PrefixRow, translate: Translate): string {
  const parts = [translate('%1 of %2 finished', formatCount(row.finished), formatCount(row.total))];
  parts.push(...[runningText(row, translate), stuckText(row.ahead, translate), aheadText(row.ahead, translate)].filter(text => text !== ''));
  if (row.erred > 0) {
    parts.push(translate('%1 erred', formatCount(row.erred)));
  }
  if (row.interrupted > 0) {
    parts.push(translate('%1 interrupted', formatCount(row.interrupted)));
  }
  if (row.spared > 0) {
    parts.push(sparedText(row, translate));
  }
  return parts.join(', ');
}

/** What the rows that are not listed do: `3 running, 1 erred`; empty where nothing. */
export function hiddenText(rows: readonly PrefixRow[], translate: Translate): string {
  const running = rows.filter(row => row.running > 0).length;
  const stuck = rows.filter(row => (row.ahead?.noWorker ?? 0) > 0).length;
  const erred = rows.filter(row => row.erred > 0).length;
  const parts = [
    running > 0 ? translate('%1 running', formatCount(running)) : '',
    stuck > 0 ? translate('%1 with tasks that fit no worker', formatCount(stuck)) : '',
    erred > 0 ? translate('%1 erred', formatCount(erred)) : ''
  ];
  return parts.filter(part => part !== '').join(', ');
}

export function stateWord(state: ProgressState, translate: Translate): string {
  switch (state) {
    case 'waiting':
      return translate('Waiting for a Dask compute');
    case 'running':
      return translate('Running');
    case 'finished':
      return translate('Finished');
    case 'erred':
      return translate('Failed');
    case 'interrupted':
      return translate('Interrupted');
  }
}

/** Digits that change faster than they can be read are left out while time goes on. */
function elapsedText({ state, elapsedS }: ProgressLayout): string {
  return state === 'running' && elapsedS < 59.95
    ? `${elapsedS.toFixed(1)} s`
    : formatDuration(elapsedS);
}

function etaText(eta: Eta, translate: Translate): string {
  switch (eta.kind) {
    case 'none':
      return '';
    case 'estimating':
      return translate('estimating…');
    case 'estimate': {
      const [low, high] = [coarse(eta.lowS, Math.floor), coarse(eta.highS, Math.ceil)].map(formatDuration);
      const guess = formatDuration(coarse(eta.seconds, Math.ceil));
      const band = translate('%1 to %2', low ?? '', high ?? '');
      return translate('about %1 left (estimate: %2)', guess, [band, unseenText(eta.nUnseen, translate)].filter(Boolean).join(', '));
    }
  }
}

/** Of what is not like anything seen nobody knows how long it takes. */
function unseenText(n: number, translate: Translate): string {
  if (n === 0) {
    return '';
  }
  return n === 1
    ? translate('or more: 1 task of a prefix not seen yet')
    : translate('or more: %1 tasks of prefixes not seen yet', formatCount(n));
}

/** Whole seconds, and coarser the further away: an estimate has no more digits than that. */
function coarse(seconds: number, toWhole: (value: number) => number): number {
  const step = seconds < 20 ? 1 : seconds < 120 ? 5 : seconds < 7200 ? 60 : 600;
  return toWhole(seconds / step) * step;
}
