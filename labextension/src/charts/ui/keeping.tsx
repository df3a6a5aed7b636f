/** What a kernel does with the computes that a chart shows: files of them, and a comparison. Pages without a kernel have none of it. */
import { formatCount, printable } from '../../lib/format';
import type { Span } from '../../lib/span';
import { trans } from '../../lib/translate';
import type { RunRange } from '../../store';
import type { Explained, Run } from '../../wire';
import type { Exporter } from './export';
import { MAX_PATH_CHARS } from './export';
import type { ButtonSpec } from './toolbar';

export type FileFormat = 'taskscope' | 'html' | 'trace';

/** When something happened to a task, and what, in the words of `recording.story`. */
export type StoryLine = readonly [after: string, what: string];

/** Each rejects with what went wrong. */
export interface Keeper {
  /** Writes them to a file beside the notebook; resolves to its path. */
  readonly save: (runRange: RunRange, format: FileFormat) => Promise<string>;
  /** Opens a page that compares their cell's execution with the one before; resolves when it is there. */
  readonly compare: (runRange: RunRange) => Promise<void>;
  /** Resolves to why they took so long, or what of them lies in a span. */
  readonly explain: (runRange: RunRange, span?: Span) => Promise<Explained>;
  /** Resolves to when and what happened to a task of a compute, line by line. */
  readonly story: (run: number, key: string) => Promise<readonly StoryLine[]>;
}

/** How a chart reaches the kernel's keeper. */
export class Keeping {
  constructor(readonly keeper: Keeper) {}

  /** What a menu offers of files that the kernel writes of some computes; nothing where there are none. */
  files(exporter: Exporter, runs: readonly Run[]): ButtonSpec[] {
    const [of, name] = [rangeOf(runs), namesOf(runs)];
    const save = (format: FileFormat) => (): void => {
      if (of !== null) {
        exporter.tell(
          trans.__('saving…'),
          this.keeper.save(of, format).then(path => trans.__('saved %1', printable(path, MAX_PATH_CHARS))),
          why => trans.__('could not save the computes: %1', why)
        );
      }
    };
    return of === null ? [] : [
      { text: trans.__('Save the recording of %1', name), act: save('taskscope') },
      { text: trans.__('Save %1 as an HTML page', name), act: save('html') },
      { text: trans.__('Save %1 as a trace', name), act: save('trace') }
    ];
  }

  /** @param runs the computes that are shown */
  comparison(exporter: Exporter, runs: readonly Run[]): ButtonSpec {
    const act = (): void => {
      const of = rangeOf(runs);
      if (of !== null) {
        exporter.tell(trans.__('comparing…'), this.keeper.compare(of).then(() => ''), why => trans.__('could not compare: %1', why));
      }
    };
    return { text: trans.__('Compare with the previous run of this cell'), act };
  }
}

/** From the first to the last of some computes; null: there are none. */
function rangeOf(runs: readonly Run[]): RunRange | null {
  const numbers = runs.map(({ run }) => run);
  return numbers.length === 0 ? null : { firstRun: Math.min(...numbers), lastRun: Math.max(...numbers) };
}

/** What shows a compute's cell to the person; null where the page has no such cell. */
export type RevealCell = (run: Run) => (() => void) | null;

const PROMPT = /^In \[\d+\]$/;
const MAX_CHARS = 80;

/** Where in the user's code a compute was started, as `In [3], line 2` or `In [3] (a.py:15)`; null: unknown. */
export function runPlace({ calledFrom, ...run }: Run): string | null {
  const prompt = runName({ ...run, calledFrom, label: null });
  const place = calledFrom === null ? null : printable(calledFrom, MAX_CHARS);
  return place === null || prompt === null || place.startsWith(prompt) ? (place ?? prompt) : `${prompt} (${place})`;
}

/** A compute by its label and the prompt of its cell, as `qr · In [5]`; null where it has neither. */
export function runName({ label, cell, executionCount }: Run): string | null {
  const prompt = executionCount !== null ? `In [${executionCount}]` : cell !== null && PROMPT.test(cell) ? cell : null;
  const parts = [label === null ? null : printable(label, MAX_CHARS), prompt].filter(part => part !== null);
  return parts.length === 0 ? null : parts.join(' · ');
}

/** The oldest of very many computes are added up in one row, which has no other name. */
export function nameOf(run: Run): string {
  const first = String(run.run + 1);
  return run.lastRun !== null
    ? trans.__('Computes %1 to %2, added up', first, String(run.lastRun + 1))
    : runName(run) ?? trans.__('Compute %1', first);
}

/** Some computes by their names, as `In [5] and 2 more`. */
export function namesOf(runs: readonly Run[]): string {
  const names = [...new Set(runs.map(nameOf))];
  return names.length > 1 ? trans.__('%1 and %2 more', names.at(-1) ?? '', formatCount(names.length - 1)) : (names[0] ?? '');
}
