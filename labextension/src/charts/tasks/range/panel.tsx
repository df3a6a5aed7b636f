/** What ran in the selected range of time, as a table. */
import { formatBytes, formatCount, formatDuration, formatPercent, formatShares, printable, UNKNOWN } from '../../../lib/format';
import { widthS } from '../../../lib/span';
import { trans } from '../../../lib/translate';
import type { ComponentChildren } from '../../ui/render';
import type { TextTable } from '../../ui/tables';
import { Table } from '../../ui/tables';
import { Button } from '../../ui/toolbar';
import { waitsText } from '../why/waits';
import type { MostBytes, RangeNumbers } from './numbers';

/** Types in the page; a copy has all. */
const MAX_TYPES = 12;
const MAX_REASON = 300;

interface RangePanelProps {
  /** Null: no range is selected. */
  readonly text: RangeText | null;
  readonly zoom: () => void;
  readonly copy: () => void;
  readonly close: () => void;
}

/** All that is said of a range. */
export interface RangeText {
  readonly title: string;
  readonly table: TextTable | null;
  readonly more: string;
  /** What is no task: a line each. */
  readonly lines: readonly string[];
}

export function RangePanel({ text, zoom, copy, close }: RangePanelProps): ComponentChildren {
  return (
    <div class="tsk-gantt-range" role="region" aria-label={trans.__('Selected time range')} hidden={text === null}>
      {text !== null && (
        <>
          <p class="tsk-gantt-range-title">{text.title}</p>
          {text.lines.map(line => <p>{line}</p>)}
          {text.table !== null && <div class="tsk-text-table" role="group" aria-label={text.table.caption} tabIndex={0}><Table {...text.table} /></div>}
          {text.more !== '' && <p>{text.more}</p>}
          <div class="tsk-bar">
            <Button text={trans.__('Zoom to it')} label={trans.__('Zoom to it: the selected time fills the chart (Z)')} act={zoom} />
            <Button text={trans.__('Copy')} label={trans.__('Copy the table of the selected time')} act={copy} hidden={text.table === null} />
            <Button text={trans.__('Close')} label={trans.__('Close: select no time (Escape)')} act={close} />
          </div>
        </>
      )}
    </div>
  );
}

/** The sentences and the table of a range; times since `zeroS`, `others` are lines of what was no task. */
export function rangeText(
  numbers: RangeNumbers | null, others: readonly string[], { zeroS, isGrowing }: { readonly zeroS: number; readonly isGrowing: boolean }
): RangeText {
  if (numbers === null) {
    return { title: trans.__('Selected time: nothing was computed then'), table: null, more: '', lines: [] };
  }
  const { span, types, nTasks } = numbers;
  const [from, to, width] = [span.startS - zeroS, span.stopS - zeroS, widthS(span)].map(formatDuration) as [string, string, string];
  const nMore = Math.max(types.length - MAX_TYPES, 0);
  const title = trans._n('%3 to %4 (%5): %2 task', '%3 to %4 (%5): %2 tasks', nTasks, formatCount(nTasks), from, to, width);
  return {
    title: isGrowing ? `${title}, ${trans.__('those that run count until now')}` : title,
    table: rangeTable(numbers, zeroS, MAX_TYPES),
    more: nMore === 0 ? '' : trans._n('and %2 more task type', 'and %2 more task types', nMore, formatCount(nMore)),
    lines: linesOf(numbers, others)
  };
}

/** Task types with what they took of the range. */
export function rangeTable({ span, types, taskS, path }: RangeNumbers, zeroS: number, atMost = Infinity): TextTable {
  const shares = formatShares(types.map(({ seconds }) => seconds), taskS);
  return {
    caption: trans.__('Tasks from %1 to %2, cut at both', formatDuration(span.startS - zeroS), formatDuration(span.stopS - zeroS)),
    columns: [trans.__('Task type'), trans.__('Time'), trans.__('Share'), trans.__('Tasks'), ...('reason' in path ? [] : [trans.__('On the longest chain')])],
    rows: types.slice(0, atMost).map(({ prefix, seconds, n }, i) => [
      printable(prefix, 60), formatDuration(seconds), shares[i] ?? UNKNOWN, formatCount(n),
      ...('reason' in path ? [] : [onPath(path.prefixS.get(prefix))])
    ])
  };
}

function linesOf({ nLanes, busyS, idleS, residentBytes, held, path }: RangeNumbers, others: readonly string[]): string[] {
  const lanes = trans._n('%2 thread', '%2 threads', nLanes, formatCount(nLanes));
  return [
    trans.__('Busy %1 (%2), idle %3, over %4.', formatDuration(busyS), formatPercent(busyS / (busyS + idleS)), formatDuration(idleS), lanes),
    ...others,
    residentBytes === null
      ? trans.__('Memory of the process: not sampled in this time.')
      : trans.__('Memory of the process: %1 in the largest sample.', formatBytes(residentBytes)),
    ...(held === null ? [] : [heldText(held)]),
    pathLine(path)
  ];
}

const onPath = (seconds: number | undefined): string => (seconds === undefined ? '–' : formatDuration(seconds));

function pathLine(path: RangeNumbers['path']): string {
  if ('reason' in path) {
    return trans.__('Who was on the longest chain is not known: %1.', printable(path.reason, MAX_REASON));
  }
  const { nTasks, taskS, waitsS } = path;
  const tasks = trans._n('On the longest chain: %2 task for %3', 'On the longest chain: %2 tasks for %3', nTasks, formatCount(nTasks), formatDuration(taskS));
  return waitsS.length === 0 ? `${tasks}.` : trans.__('%1, waits of %2.', tasks, waitsText(waitsS));
}

function heldText({ bytes, isAtLeast }: MostBytes): string {
  return isAtLeast ? trans.__('Results in memory: at least %1 at their most.', formatBytes(bytes)) : trans.__('Results in memory: %1 at their most.', formatBytes(bytes));
}
