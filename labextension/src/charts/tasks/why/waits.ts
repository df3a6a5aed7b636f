/** Why nothing on a critical path ran, in words. */
import { formatDuration, printable } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { PathSums } from './path';

export function waitsText(waitsS: PathSums['waitsS']): string {
  return waitsS.map(([cause, seconds]) => `${waitName(cause)} ${formatDuration(seconds)}`).join(', ');
}

/** As `taskscope.analysis.explain.critical_path.WaitCause` names them. */
function waitName(cause: string): string {
  const names: Readonly<Record<string, string>> = {
    client: trans.__('no compute ran'),
    graph: trans.__('before the first task'),
    dispatch: trans.__('dispatch'),
    queue: trans.__('queue for a worker'),
    transfer: trans.__('transfer'),
    'disk-read': trans.__('disk read'),
    'disk-write': trans.__('disk write'),
    deserialize: trans.__('deserialize'),
    serialize: trans.__('serialize'),
    other: trans.__('other work of workers'),
    'failed-attempt': trans.__('failed attempt'),
    results: trans.__('results'),
    unknown: trans.__('unknown')
  };
  return names[cause] ?? printable(cause, 40);
}
