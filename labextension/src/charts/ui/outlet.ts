/** What leaves a chart: tables for the clipboard, a picture as a file; a notice says how it went. */
import { formatCount } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { Notice } from './notice';
import { savePng } from './save-picture';
import type { TextTable } from './text-table';
import { copyText, tabSeparated } from './text-table';

export class Outlet {
  constructor(
    private readonly notice: Notice,
    private readonly t: Translate
  ) {}

  copy(tables: readonly TextTable[]): void {
    const rows = tables.reduce((sum, table) => sum + table.rows.length, 0);
    const caption = tables.length === 1 ? ` (${tables[0]?.caption ?? ''})` : '';
    const text = tables.map(tabSeparated).join('\n\n');
    this.#tell(copyText(text), this.t('copied %1 rows', formatCount(rows)) + caption, 'could not copy: %1');
  }

  save(picture: HTMLCanvasElement, name: string): void {
    this.#tell(savePng(picture, name), this.t('saved %1', name), 'could not save the picture: %1');
  }

  #tell(act: Promise<void>, done: string, failed: string): void {
    act.then(
      () => { this.notice.say(done); },
      (error: unknown) => { this.notice.say(this.t(failed, error instanceof Error ? error.message : String(error))); }
    );
  }
}
