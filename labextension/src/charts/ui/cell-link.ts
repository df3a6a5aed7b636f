/** Which cell asked for a compute, and the way there. */
import { printable } from '../../lib/format';
import type { Run } from '../../wire';

/** What shows a compute's cell to the person; null where the page has no such cell. */
export type RevealCell = (run: Run) => (() => void) | null;

const PROMPT = /^In \[\d+\]$/;
const MAX_CHARS = 80;

/** A compute by its label and the prompt of its cell, as `qr · In [5]`; null where it has neither. */
export function runName({ label, cell, executionCount }: Run): string | null {
  const prompt = executionCount !== null ? `In [${executionCount}]` : cell !== null && PROMPT.test(cell) ? cell : null;
  const parts = [label === null ? null : printable(label, MAX_CHARS), prompt].filter(part => part !== null);
  return parts.length === 0 ? null : parts.join(' · ');
}
