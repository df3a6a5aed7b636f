/** What was held, as a stack of prefixes for each pixel column; pure. */
import type { Span } from '../../lib/span';
import { pxAt } from '../../lib/span';
import type { Measure, RunWindow, TaskStore } from '../../store';
import { walkHeld } from '../../store';

export interface Stack {
  /** Numbers of the prefixes, bottom to top. */
  readonly prefixes: readonly number[];
  readonly columns: number;
  /** Column by column, an amount for each prefix: at the column's moment of the most. */
  readonly amounts: Float64Array;
  /** Columns before the first moment and after `present` have nothing to say. */
  readonly from: number;
  readonly to: number;
}

/**
 * Of each column the moment at which most was held, what was held when it began included.
 *
 * @param presentS until when the last state is known to hold
 */
export function stackHeld(
  store: TaskStore,
  window: RunWindow,
  measure: Measure,
  span: Span,
  columns: number,
  presentS: number
): Stack {
  const prefixes = prefixesOf(store, window);
  const place = new Map(prefixes.map((prefix, i) => [prefix, i]));
  const width = prefixes.length;
  const amounts = new Float64Array(columns * width);
  const state = new Float64Array(width);
  const byGroup = new Float64Array(store.held.nGroups);
  const placeOf = Int32Array.from(byGroup, (_, group) => place.get(store.tables.prefixOfGroup(group) ?? -1) ?? 0);
  const columnAt = (timeS: number): number => Math.floor(pxAt(span, columns, timeS));
  let from = columns;
  let at = -1;
  let best = 0;
  let total = 0;
  const put = (column: number): void => {
    amounts.set(state, column * width);
  };
  /** The state holds until the column of a later moment, and when that begins. */
  const advance = (column: number): void => {
    for (let i = Math.max(at + 1, 0); i <= Math.min(column, columns - 1); i += 1) {
      put(i);
    }
    if (column > at) {
      at = column;
      best = total;
    }
  };
  walkHeld(store.held, window, measure, moment => {
    const column = columnAt(moment.timeS);
    if (from === columns) {
      from = Math.min(Math.max(column, 0), columns);
      at = Math.max(column, 0) - 1;
    }
    advance(column);
    for (let k = 0; k < moment.nChanged; k += 1) {
      const group = moment.changed[k] as number;
      const amount = moment.byGroup[group] as number;
      const i = placeOf[group] as number;
      state[i] = Math.max((state[i] as number) + amount - (byGroup[group] as number), 0);
      byGroup[group] = amount;
    }
    total = moment.total;
    if (total >= best && column >= 0 && column < columns) {
      best = total;
      put(column);
    }
  });
  const to = Math.min(Math.max(columnAt(presentS) + 1, 0), columns);
  advance(to - 1);
  return { prefixes, columns, amounts, from, to };
}

/** By first appearance among the computes, as colours are given. */
function prefixesOf(store: TaskStore, window: RunWindow): number[] {
  const { tables, held } = store;
  const found = new Set(tables.progressIn(window).map(row => tables.prefixId(row.prefix)));
  const isSeen = new Uint8Array(held.nGroups);
  for (let i = 0; i < held.n; i += 1) {
    const group = held.group[i] as number;
    if (isSeen[group] === 0) {
      isSeen[group] = 1;
      found.add(tables.prefixOfGroup(group) ?? 0);
    }
  }
  return [...found];
}
