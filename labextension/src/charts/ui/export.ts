/** What leaves a chart: tables for the clipboard, a picture as a file; a notice says how it went. */
import { formatCount, printable } from '../../lib/format';
import type { TranslationBundle } from '../../lib/translate';
import type { RunWindow } from '../../store';
import type { Explained } from '../../wire';
import type { TextTable } from './tables';
import { tabSeparated } from './tables';
import type { ButtonSpec } from './toolbar';

const SHOWN_MS = 6_000;
/** Of a path, or of why something could not be done. */
const MAX_PATH_CHARS = 400;

/** A line that says what was done: seen for a while, and read aloud. */
export class Notice {
  text = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when the text is another */
  constructor(private readonly changed: () => void, signal: AbortSignal) {
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  say(text: string): void {
    this.text = text;
    this.changed();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.text = '';
      this.changed();
    }, SHOWN_MS);
  }
}

export type FileFormat = 'taskscope' | 'html' | 'trace';

/** What a kernel does with the computes that a chart shows; each rejects with what went wrong. */
export interface Keeper {
  /** Writes them to a file beside the notebook; resolves to its path. */
  readonly save: (window: RunWindow, format: FileFormat) => Promise<string>;
  /** Resolves to a page of HTML that compares their cell's execution with the one before. */
  readonly compare: (window: RunWindow) => Promise<string>;
  /** Resolves to why they took so long. */
  readonly explain: (window: RunWindow) => Promise<Explained>;
}

export class Exporter {
  constructor(
    private readonly notice: Notice,
    private readonly _trans: TranslationBundle,
    private readonly keeper: Keeper | null
  ) {}

  /** What a menu offers of files that the kernel writes; nothing where there is none. */
  files(window: () => RunWindow): ButtonSpec[] {
    const { keeper, _trans: trans } = this;
    const save = (keep: Keeper, format: FileFormat) => (): void => {
      this.notice.say(trans.__('saving…'));
      this.#tell(keep.save(window(), format).then(path => trans.__('saved %1', printable(path, MAX_PATH_CHARS))), why => trans.__('could not save the computes: %1', why));
    };
    return keeper === null ? [] : [
      { text: trans.__('Save the recording'), act: save(keeper, 'taskscope') },
      { text: trans.__('Save as an HTML page'), act: save(keeper, 'html') },
      { text: trans.__('Save as a trace'), act: save(keeper, 'trace') }
    ];
  }

  /** Have `show` called with the comparison of what a cell computed with what it computed before. */
  compare(keeper: Keeper, window: RunWindow, show: (html: string) => void): void {
    const { _trans: trans } = this;
    this.notice.say(trans.__('comparing…'));
    const shown = keeper.compare(window).then(html => { show(html); return ''; });
    this.#tell(shown, why => trans.__('could not compare: %1', why));
  }

  copy(tables: readonly TextTable[]): void {
    const rows = tables.reduce((sum, table) => sum + table.rows.length, 0);
    const caption = tables.length === 1 ? ` (${tables[0]?.caption ?? ''})` : '';
    const text = tables.map(tabSeparated).join('\n\n');
    const done = this._trans._n('copied %2 row', 'copied %2 rows', rows, formatCount(rows)) + caption;
    this.#tell(copyText(text).then(() => done), why => this._trans.__('could not copy: %1', why));
  }

  save(picture: HTMLCanvasElement, name: string): void {
    this.#tell(savePng(picture, name).then(() => this._trans.__('saved %1', name)), why => this._trans.__('could not save the picture: %1', why));
  }

  #tell(done: Promise<string>, failed: (why: string) => string): void {
    done.then(
      text => { this.notice.say(text); },
      (error: unknown) => { this.notice.say(failed(printable(error instanceof Error ? error.message : String(error), MAX_PATH_CHARS))); }
    );
  }
}

/** Whether the page may save files: a sandboxed frame may not, and says nothing when it tries. */
export function maySaveFiles(): boolean {
  return window.self === window.top || window.origin !== 'null';
}

/** Copy text to the clipboard; rejects where the page may not. */
async function copyText(text: string): Promise<void> {
  // Absent on pages that are not served by https or localhost.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) {
    throw new Error('this page may not use the clipboard');
  }
  await clipboard.writeText(text);
}

/** Offer a canvas as a PNG file of that name; rejects where the picture cannot be made. */
async function savePng(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>(resolve => {
    canvas.toBlob(resolve, 'image/png');
  });
  if (blob === null) {
    throw new Error('the browser could not make a picture of this size');
  }
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
