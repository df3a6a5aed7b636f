/** Which worker sent data to which, and whose tasks went to which: a square for each two. */
import { UNKNOWN, formatBytes, formatCount, formatDuration, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { ClusterStore, Pair, RunRange, Tables } from '../../store';
import { Pairs } from '../../store';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';

/** At most this many workers have a row and a column; the others share one. */
const MOST = 16;
/** So many pairs are in a table. */
const MAX_ROWS = 1_000;
const OTHERS = '';

interface Chart {
  readonly caption: string;
  /** Of what a pair has, in words. */
  readonly columns: readonly string[];
  readonly cells: (pair: Pair) => readonly string[];
  readonly pairs: readonly Pair[];
  /** What a square is as dark as; its words are the cell of this number. */
  readonly valueOf: (pair: Pair) => number;
  readonly shown: number;
}

interface PairChart extends TextTable {
  readonly squares: ComponentChildren;
}

/** What went between the workers of some computes; of nothing there is no chart. */
export function pairCharts({ activities, steals, workers }: ClusterStore, { lanes }: Tables, runRange: RunRange, zeroS: number): PairChart[] {
  const nameOf = (address: string, isShort = false): string =>
    address === OTHERS ? trans.__('others') : isShort ? printable(workers.nameOf(address) ?? address).slice(-6) : workerName(workers, address);
  const at = (timeS: number): string => formatDuration(timeS - zeroS);
  const sum = (pairs: readonly Pair[], field: 'n' | 'nOther' | 'nbytes'): number => pairs.reduce((all, pair) => all + pair[field], 0);
  const moved = activities.transfers(runRange, id => lanes[id]?.worker).sort((a, b) => b.nbytes - a.nbytes);
  const stolen = steals.pairs(runRange).sort((a, b) => b.n - a.n);
  const charts: Chart[] = [
    {
      caption: trans.__('Fetched from other workers for tasks: %1 in %2 transfers', formatBytes(sum(moved, 'nbytes')), formatCount(sum(moved, 'n'))),
      columns: [trans.__('Transfers'), trans.__('Bytes'), trans.__('A transfer'), trans.__('Rate')],
      cells: ({ n, nOther, nbytes, seconds }) => {
        const of = (value: number): number | null => (n > nOther ? value : null);
        return [formatCount(n), formatBytes(of(nbytes)), formatDuration(of(seconds / (n - nOther))), seconds > 0 ? trans.__('%1/s', formatBytes(nbytes / seconds)) : UNKNOWN];
      },
      pairs: moved,
      valueOf: ({ nbytes, seconds }) => (seconds > 0 ? nbytes / seconds : 0),
      shown: 3
    },
    {
      caption: trans.__('Work stealing: %1 tasks moved, %2 not', formatCount(sum(stolen, 'n')), formatCount(sum(stolen, 'nOther'))),
      columns: [trans.__('Moved'), trans.__('Not'), trans.__('Expected to take'), trans.__('First at'), trans.__('Last at')],
      cells: ({ n, nOther, seconds, firstS, lastS }) => [formatCount(n), formatCount(nOther), formatDuration(seconds), at(firstS), at(lastS)],
      pairs: stolen,
      valueOf: ({ n }) => n,
      shown: 0
    }
  ];
  return charts.filter(({ pairs }) => pairs.length > 0).map(chart => ({
    caption: chart.caption,
    columns: [trans.__('From'), trans.__('To'), ...chart.columns],
    rows: chart.pairs.slice(0, MAX_ROWS).map(pair => [nameOf(pair.from), nameOf(pair.to), ...chart.cells(pair)]),
    squares: squaresOf(chart, nameOf)
  }));
}

/** What a worker is called by its cluster, or else its address. */
export function workerName(workers: ClusterStore['workers'], address: string): string {
  const name = workers.nameOf(address) ?? address;
  return name === address ? printable(address) : trans.__('worker %1', printable(name, 24));
}

function squaresOf({ caption, columns, cells, pairs, valueOf, shown }: Chart, nameOf: (address: string, isShort?: boolean) => string): ComponentChildren {
  const ranked = [...new Set(pairs.flatMap(({ from, to }) => [from, to]))];
  const own = new Set(ranked.slice(0, ranked.length > MOST ? MOST - 1 : MOST));
  const merged = new Pairs();
  const placeOf = (worker: string): string => (own.has(worker) ? worker : OTHERS);
  pairs.forEach(pair => { merged.add(placeOf(pair.from), placeOf(pair.to), pair); });
  const { all } = merged;
  const inOrder = (workers: readonly string[]): string[] =>
    [...new Set(workers)].sort((a, b) => Number(!a) - Number(!b) || nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true }));
  const receivers = inOrder(all.map(({ to }) => to));
  const most = Math.max(...all.map(valueOf), 1);
  return (
    <div class="tsk-pairs" data-many={receivers.length > 4}>
      <div class="tsk-seconds-title">{caption}</div>
      <table role="img" aria-label={caption}>
        <tr><td>{trans.__('from, to')}</td>{receivers.map(to => <td title={nameOf(to)}>{nameOf(to, true)}</td>)}</tr>
        {inOrder(all.map(({ from }) => from)).map(from => (
          <tr>
            <td>{nameOf(from)}</td>
            {receivers.map(to => {
              const pair = all.find(one => one.from === from && one.to === to);
              const words = pair && cells(pair);
              return (
                <td
                  title={words && [`${nameOf(from)} → ${nameOf(to)}`, ...words.map((cell, i) => `${columns[i] as string}: ${cell}`)].join('\n')}
                  style={pair && { background: `color-mix(in srgb, var(--tsk-accent) ${6 + (44 * valueOf(pair)) / most}%, transparent)` }}
                >
                  <span>{words?.[shown]}</span>
                </td>
              );
            })}
          </tr>
        ))}
      </table>
    </div>
  );
}
