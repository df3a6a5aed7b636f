/** What findings and the critical path are in words; the sentences of findings are the kernel's. */
import { formatCount, formatDuration, printable } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { CriticalPath, Finding } from '../../../wire';
import { sumsOf } from './path';
import { waitsText } from './waits';

/** As `taskscope.analysis.explain.finding.Cause` names them. */
export function causeTitle(cause: string): string {
  const titles: Readonly<Record<string, string>> = {
    'interpreter-lock': trans.__('Interpreter lock'),
    oversubscribed: trans.__('More threads than cores'),
    waiting: trans.__('Tasks wait'),
    'short-tasks': trans.__('Short tasks'),
    'few-tasks': trans.__('Few tasks'),
    'long-chain': trans.__('Long chain'),
    stragglers: trans.__('Stragglers'),
    recomputed: trans.__('Computed again'),
    'memory-pressure': trans.__('Memory pressure'),
    transfers: trans.__('Transfers'),
    serialization: trans.__('Serialization'),
    'large-graph': trans.__('Large graph'),
    'slow-worker': trans.__('Slow worker'),
    'idle-workers': trans.__('Idle workers'),
    'client-gaps': trans.__('Gaps between computes'),
    'lost-work': trans.__('Lost work')
  };
  return titles[cause] ?? printable(cause, 40);
}

export function worthText({ worthS, lowS, highS }: Finding, makespanS: number): string {
  const [worth, low, high, whole] = [worthS, lowS, highS, makespanS].map(formatDuration) as [string, string, string, string];
  return lowS > 0 ? trans.__('about %1 (%2 to %3) of %4', worth, low, high, whole) : trans.__('up to %1 of %2', high, whole);
}

/** In one line, what is worth most named. */
export function countText(findings: readonly Finding[], makespanS: number): string {
  const [first] = findings;
  const n = findings.length;
  const most = first === undefined ? '' : `${causeTitle(first.cause)}, ${worthText(first, makespanS)}`;
  return trans._n('%2 finding: %3', '%2 findings, the first: %3', n, formatCount(n), most);
}

/** Which tasks and waits a path is made of. */
export function pathText(path: CriticalPath): string {
  const { nTasks, taskS, waitsS } = sumsOf(path);
  const tasks = trans._n('critical path: %2 task, %3', 'critical path: %2 tasks, %3', nTasks, formatCount(nTasks), formatDuration(taskS));
  return waitsS.length === 0 ? tasks : trans.__('%1 · waits: %2', tasks, waitsText(waitsS));
}

const CODE = /(?:\w+ = )?[\w.]*\w\([^()]*\)|\b[A-Z][A-Z_]+=\d+|\bclient\.\w+/gu;

/** The parts of an advice, calls apart from what is said of them. */
export function adviceParts(advice: string): { readonly text: string; readonly isCode: boolean }[] {
  const parts: { text: string; isCode: boolean }[] = [];
  let from = 0;
  for (const { 0: text, index } of advice.matchAll(CODE)) {
    parts.push({ text: advice.slice(from, index), isCode: false }, { text, isCode: true });
    from = index + text.length;
  }
  return [...parts, { text: advice.slice(from), isCode: false }].filter(({ text }) => text !== '');
}
