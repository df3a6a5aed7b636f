/** What leaves a chart: tables for the clipboard, files; a notice says how it went. */
import { messageOf } from '../../lib/error-message';
import { formatCount, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { TextTable } from './text-table';
import { tabSeparated } from './text-table';

const SHOWN_MS = 6_000;
/** Of a path, or of why something could not be done. */
export const MAX_PATH_CHARS = 400;

/** A line that says what was done: seen for a while, and read aloud. */
export class Notice {
  text = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when the text is another */
  constructor(private readonly changed: () => void, signal: AbortSignal, private readonly shownMs = SHOWN_MS) {
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  say(text: string): void {
    this.text = text;
    this.changed();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.text = '';
      this.changed();
    }, this.shownMs);
  }
}

export class Exporter {
  constructor(
    private readonly notice: Notice
  ) {}

  copy(tables: readonly TextTable[]): void {
    const rows = tables.reduce((sum, table) => sum + table.rows.length, 0);
    const caption = tables.length === 1 ? ` (${tables[0]?.caption ?? ''})` : '';
    const text = tables.map(tabSeparated).join('\n\n');
    const done = trans._n('copied %2 row', 'copied %2 rows', rows, formatCount(rows)) + caption;
    this.#tell(copyText(text).then(() => done), why => trans.__('could not copy: %1', why));
  }

  /** Say what is being done, and how it went. */
  tell(doing: string, done: Promise<string>, failed: (why: string) => string): void {
    this.notice.say(doing);
    this.#tell(done, failed);
  }

  #tell(done: Promise<string>, failed: (why: string) => string): void {
    done.then(
      text => { this.notice.say(text); },
      (error: unknown) => { this.notice.say(failed(printable(messageOf(error), MAX_PATH_CHARS))); }
    );
  }
}

/** Copy text to the clipboard; rejects where the page may not. */
export async function copyText(text: string): Promise<void> {
  // Absent on pages that are not served by https or localhost.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) {
    throw new Error('this page may not use the clipboard');
  }
  await clipboard.writeText(text);
}

export interface LegendEntry {
  readonly name: string;
  readonly colour: string;
}
