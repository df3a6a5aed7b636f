/** A chart as a table of text: shown, read aloud and copied. */
import type { ComponentChildren } from './render';

export interface TextTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function Table({ caption, columns, rows }: TextTable): ComponentChildren {
  return (
    <table>
      <caption>{caption}</caption>
      <thead><tr>{columns.map(cell => <th scope="col">{cell}</th>)}</tr></thead>
      <tbody>{rows.map(cells => <tr>{cells.map(cell => <td>{cell}</td>)}</tr>)}</tbody>
    </table>
  );
}

/** Lines of cells with tabs between them; no cell begins a formula in a spreadsheet, so of those with a minus only numbers are left alone. */
export function tabSeparated({ columns, rows }: TextTable): string {
  return [columns, ...rows].map(cells => cells.map(plainCell).join('\t')).join('\n');
}

function plainCell(text: string): string {
  const line = text.replace(/[\t\r\n]+/g, ' ');
  return /^[=+@-]/.test(line) && !/^-\d[\d,]*(\.\d+)?$/.test(line) ? `'${line}` : line;
}

/** Split rows into `n` that are shown and the rest, both in order; of those that must be shown none is in the rest. */
export function fold<Row>(rows: readonly Row[], n: number, must: (row: Row) => boolean): { readonly shown: Row[]; readonly rest: Row[] } {
  let others = n - rows.filter(must).length;
  const shown: Row[] = [];
  const rest: Row[] = [];
  for (const row of rows) {
    const isShown = must(row) || others > 0;
    others -= must(row) ? 0 : 1;
    (isShown ? shown : rest).push(row);
  }
  return { shown, rest };
}
