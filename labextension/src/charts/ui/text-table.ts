/** A chart as a table of text: shown, read aloud and copied. */
import { element } from './dom';

export interface TextTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Fill a table element with what `table` says. */
export function fillTable(target: HTMLTableElement, table: TextTable): void {
  const row = (tag: 'td' | 'th', cells: readonly string[]): HTMLTableRowElement =>
    element('tr', {}, ...cells.map(cell => element(tag, tag === 'th' ? { scope: 'col' } : {}, cell)));
  target.replaceChildren(
    element('caption', {}, table.caption),
    element('thead', {}, row('th', table.columns)),
    element('tbody', {}, ...table.rows.map(cells => row('td', cells)))
  );
}

/** Lines of cells with tabs between them; no cell begins a formula in a spreadsheet. */
export function tabSeparated({ columns, rows }: TextTable): string {
  return [columns, ...rows].map(cells => cells.map(plainCell).join('\t')).join('\n');
}

function plainCell(text: string): string {
  const line = text.replace(/[\t\r\n]+/g, ' ');
  return /^[=+@]|^-(?![\d.])/.test(line) ? `'${line}` : line;
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
