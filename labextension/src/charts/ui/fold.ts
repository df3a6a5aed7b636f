/** Which rows of a long list are there before a person asks for the others. */

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
