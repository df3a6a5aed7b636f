/** What a critical path is made of, all of it or in a span; pure. */
import { formatDuration, printable } from '../../../lib/format';
import type { Span } from '../../../lib/span';
import { trans } from '../../../lib/translate';
import type { CriticalPath } from '../../../wire';

export interface PathSums {
  readonly nTasks: number;
  readonly taskS: number;
  /** Seconds of its tasks by their type. */
  readonly prefixS: ReadonlyMap<string, number>;
  /** The longest first. */
  readonly waitsS: readonly (readonly [cause: string, seconds: number])[];
}

export function sumsOf(path: CriticalPath, span: Span = { startS: -Infinity, stopS: Infinity }): PathSums {
  const prefixS = new Map<string, number>();
  const waitS = new Map<string, number>();
  let [nTasks, taskS] = [0, 0];
  for (const step of path) {
    const seconds = Math.min(step.stopS, span.stopS) - Math.max(step.startS, span.startS);
    if (seconds < 0 || (seconds === 0 && step.stopS > step.startS)) {
      continue;
    }
    if (step.kind === 'wait') {
      waitS.set(step.cause, (waitS.get(step.cause) ?? 0) + seconds);
    } else {
      nTasks += 1;
      taskS += seconds;
      prefixS.set(step.prefix, (prefixS.get(step.prefix) ?? 0) + seconds);
    }
  }
  return { nTasks, taskS, prefixS, waitsS: [...waitS].sort((a, b) => b[1] - a[1]) };
}

/** The rows of its tasks that are held. */
export function rowsOf(path: CriticalPath): number[] {
  return path.flatMap(step => (step.kind === 'task' && step.row !== null ? [step.row] : []));
}

export function waitsText(waitsS: PathSums['waitsS']): string {
  return waitsS.map(([cause, seconds]) => `${waitName(cause)} ${formatDuration(seconds)}`).join(', ');
}

/** As `taskscope.analysis.explain.critical_path.WaitCause` names them. */
function waitName(cause: string): string {
  const names: Readonly<Record<string, string>> = {
    client: trans.__('no compute ran'),
    graph: trans.__('before the first task'),
    'no-worker': trans.__('no worker'),
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
