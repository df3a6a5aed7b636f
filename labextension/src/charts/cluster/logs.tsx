/** Warnings and errors that the scheduler and its workers logged while computes ran. */
import { formatCount, formatDuration, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { ClusterStore } from '../../store';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/text-table';
import { workerName } from './pairs';

/** So many lines are below the chart, the last ones. */
const MOST = 5;
/** So many lines are in a table. */
const MAX_ROWS = 1_000;

interface LogLines extends TextTable {
  readonly lines: ComponentChildren;
}

/** The lines between two times, of all workers or of the one with this address. */
export function logLines({ logs, workers }: ClusterStore, [startS, stopS]: readonly [number, number], address: string | null, zeroS: number): LogLines[] {
  // Each worker sends its own lines together.
  const found = logs.rows
    .filter(({ timeS, worker }) => timeS >= startS && timeS <= stopS && (address === null || worker === address))
    .sort((a, b) => a.timeS - b.timeS);
  const caption = trans.__('Logged warnings and errors: %1', formatCount(found.length));
  const rows = found.slice(-MAX_ROWS).map(({ timeS, worker, level, text }) => [
    formatDuration(timeS - zeroS), worker === null ? trans.__('scheduler') : workerName(workers, worker), level, printable(text, 500)
  ]);
  return rows.length === 0 ? [] : [{
    caption,
    columns: [trans.__('Time'), trans.__('Of'), trans.__('Level'), trans.__('Text')],
    rows,
    lines: (
      <div class="tsk-logs">
        <div class="tsk-seconds-title">{caption}</div>
        {rows.slice(-MOST).map(([at, who, , text]) => <div title={text}>{at} · {who} · {text}</div>)}
      </div>
    )
  }];
}
