/** Results in memory in numbers: now, at their most, which groups made that up, and the stack that is drawn of them. */
import { firstPlace } from '../../lib/search';
import type { Span } from '../../lib/span';
import { clamp, pxAt } from '../../lib/span';
import type { HeldMoments, RunRange, TaskStore } from '../../store';
import { isOnCluster } from '../../wire';
import type { Brush, Plot } from '../timeline/drawing';
import { yAt } from '../timeline/drawing';

export interface HeldPeak {
  readonly timeS: number;
  readonly total: number;
  /** Keys that are not in the total, for nobody knows how much they are. */
  readonly unknown: number;
  readonly nKeys: number;
  /** Groups by number, largest first, with what each had. */
  readonly groups: readonly (readonly [group: number, amount: number])[];
}

export interface HeldSummary {
  readonly total: number;
  readonly unknown: number;
  readonly nKeys: number;
  readonly peak: HeldPeak;
  /** Whether the peak is only the most at the moments that are known: computes ran at the same time, or on a cluster. */
  readonly isLowerBound: boolean;
  /** Whether it is workers of a cluster that held it, as far as was seen. */
  readonly isOnCluster: boolean;
}

/** Work out the numbers; null while nothing was ever held. */
export function summariseHeld(store: TaskStore, runRange: RunRange, moments: HeldMoments): HeldSummary | null {
  const last = moments.n - 1;
  if (last < 0) {
    return null;
  }
  const { peak, total, unknown, nKeys } = moments;
  const groups = Array.from(moments.groupsAt(peak), (amount, group) => [group, amount] as const).filter(([, amount]) => amount > 0).sort((a, b) => b[1] - a[1]);
  const isOnCluster = onCluster(store, runRange);
  return {
    total: total[last] as number, unknown: unknown[last] as number, nKeys: nKeys[last] as number,
    peak: { timeS: moments.timeS[peak] as number, total: total[peak] as number, unknown: unknown[peak] as number, nKeys: nKeys[peak] as number, groups },
    isOnCluster, isLowerBound: isOnCluster || overlap(store, runRange)
  };
}

/** The name of the users' metric of these computes; null without one. */
export function metricName(store: TaskStore, runRange: RunRange): string | null {
  return store.tables.runsIn(runRange).find(({ metric }) => metric !== null)?.metric ?? null;
}

/** Adds up groups of one prefix, largest first. */
export function byPrefix(store: TaskStore, groups: HeldPeak['groups']): [prefix: string, amount: number][] {
  const sums = new Map<string, number>();
  for (const [group, amount] of groups) {
    const prefix = store.tables.groups[group]?.prefix ?? '?';
    sums.set(prefix, (sums.get(prefix) ?? 0) + amount);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** Whether any of these computes ran on a cluster. */
export function onCluster(store: TaskStore, runRange: RunRange): boolean {
  return store.tables.runsIn(runRange).some(isOnCluster);
}

function overlap(store: TaskStore, runRange: RunRange): boolean {
  let reachedS = -Infinity;
  return store.tables.runsIn(runRange).some(({ startS, stopS }) => {
    const early = (startS ?? 0) < reachedS;
    reachedS = Math.max(reachedS, stopS ?? Infinity);
    return early;
  });
}

export interface Stack {
  readonly prefixes: readonly number[];
  readonly columns: number;
  /** Column by column, an amount for each prefix: at the column's moment of the most. */
  readonly amounts: Float64Array;
  /** Columns before the first moment and after `present` have nothing to say. */
  readonly from: number;
  readonly to: number;
}

/** The sums of all prefixes are stored once for so many rows, or for as many rows as there are prefixes. */
const STEP = 256;

export class HeldStacks {
  /** How many rows were gone through, since the beginning. */
  nWalked = 0;
  readonly #placeOf = new Map<number, number>();
  /** The place of each group's prefix; -1 where it has had none yet. */
  #places = new Int32Array(0);
  /** The sums of all prefixes before a row, every so many rows. */
  #kept: { readonly row: number; readonly state: Float64Array }[] = [];
  #row = 0;
  #state = new Float64Array(0);
  #restarts = 0;

  constructor(private readonly store: TaskStore, private readonly runRange: RunRange, readonly moments: HeldMoments) {}

  /**
   * The moment of the most results in memory in each column; results from before the column count.
   *
   * @param presentS until when the last state is known to hold
   */
  stack(span: Span, columns: number, presentS: number): Stack {
    const { moments } = this;
    this.#read();
    const { prefixes, places } = this.#inOrder();
    const width = prefixes.length;
    const amounts = new Float64Array(columns * width);
    const columnAt = (timeS: number): number => Math.floor(pxAt(span, columns, timeS));
    const from = moments.n === 0 ? columns : clamp(columnAt(moments.timeS[0] as number), 0, columns);
    const to = clamp(columnAt(presentS) + 1, 0, columns);
    let next = this.#firstBehind(-1, 0, columnAt);
    const state = new Float64Array(this.#placeOf.size);
    let row = -1;
    for (let column = from; column < to; column += 1) {
      const end = this.#firstBehind(column, next, columnAt);
      const carried = next - 1;
      const most = end > next ? moments.mostIn(next, end) : carried;
      const moment = carried >= 0 && (moments.total[carried] as number) > (moments.total[most] as number) ? carried : most;
      next = end;
      row = this.#go(state, row, moments.end[moment] as number);
      for (let i = 0; i < width; i += 1) {
        amounts[column * width + i] = state[places[i] as number] ?? 0;
      }
    }
    return { prefixes, columns, amounts, from, to };
  }

  /** The first moment from `low` on that lies behind a column. */
  #firstBehind(column: number, low: number, columnAt: (timeS: number) => number): number {
    const { moments } = this;
    return firstPlace(low, moments.n, moment => columnAt(moments.timeS[moment] as number) > column);
  }

  /** Bring a state from before row `row` (-1: it is of none) to before row `end`. */
  #go(state: Float64Array, row: number, end: number): number {
    let at = row;
    const kept = this.#keptBefore(end);
    if (at < 0 || at > end || kept.row > at) {
      state.fill(0);
      state.set(kept.state);
      at = kept.row;
    }
    this.#walk(state, at, end);
    return end;
  }

  #keptBefore(row: number): { readonly row: number; readonly state: Float64Array } {
    const behind = firstPlace(0, this.#kept.length, place => (this.#kept[place] as { row: number }).row > row);
    return this.#kept[behind - 1] ?? { row: 0, state: new Float64Array(0) };
  }

  #walk(state: Float64Array, from: number, to: number): void {
    const { moments: { change }, store: { held: { group: groups } } } = this;
    for (let i = from; i < to; i += 1) {
      if (change[i] !== 0) {
        const place = this.#places[groups[i] as number] as number;
        state[place] = Math.max((state[place] as number) + (change[i] as number), 0);
      }
    }
    this.nWalked += to - from;
  }

  /** Go through the rows that have come, and keep states on the way. */
  #read(): void {
    const { moments, store: { held } } = this;
    if (moments.restarts !== this.#restarts) {
      this.#restarts = moments.restarts;
      this.#row = 0;
      this.#kept = [];
      this.#placeOf.clear();
      this.#places = new Int32Array(0);
      this.#state = new Float64Array(0);
    }
    if (this.#places.length < held.nGroups) {
      const places = new Int32Array(held.nGroups).fill(-1);
      places.set(this.#places);
      this.#places = places;
    }
    while (this.#row < moments.nRows) {
      const step = Math.max(STEP, this.#placeOf.size);
      const end = Math.min(this.#row + step, moments.nRows);
      this.#place(this.#row, end);
      this.#walk(this.#state, this.#row, end);
      this.#row = end;
      const last = this.#kept.at(-1)?.row ?? 0;
      if (end - last >= step) {
        this.#kept.push({ row: end, state: this.#state.slice() });
      }
    }
  }

  #place(from: number, to: number): void {
    const { moments: { change }, store: { held: { group: groups }, tables } } = this;
    for (let i = from; i < to; i += 1) {
      const group = groups[i] as number;
      if (change[i] !== 0 && this.#places[group] === -1) {
        const prefix = tables.prefixOfGroup(group) ?? 0;
        const place = this.#placeOf.get(prefix) ?? this.#placeOf.size;
        this.#placeOf.set(prefix, place);
        this.#places[group] = place;
      }
    }
    if (this.#state.length < this.#placeOf.size) {
      const state = new Float64Array(this.#placeOf.size);
      state.set(this.#state);
      this.#state = state;
    }
  }

  /** Prefixes by first appearance among the computes, as colours are given, and their places in a state. */
  #inOrder(): { prefixes: number[]; places: number[] } {
    const { tables } = this.store;
    const prefixes = [...new Set([...tables.progressIn(this.runRange).map(row => tables.prefixId(row.prefix)), ...this.#placeOf.keys()])];
    return { prefixes, places: prefixes.map(prefix => this.#placeOf.get(prefix) ?? -1) };
  }
}

/** Draw a stack whose columns are as wide as a device pixel. */
export function drawStack(brush: Brush, plot: Plot, stack: Stack, colourOf: (prefix: number) => string): void {
  const { context, room, ratio } = brush;
  const width = stack.prefixes.length;
  const bottoms = new Float64Array(stack.columns);
  const tops = new Float64Array(stack.columns);
  // Edges on whole pixels, or neighbours would shine through each other.
  const snap = (y: number): number => Math.round(y * ratio) / ratio;
  const xAt = (column: number): number => room.plotLeftPx + column / ratio;
  stack.prefixes.forEach((prefix, place) => {
    let some = false;
    for (let c = stack.from; c < stack.to; c += 1) {
      const amount = stack.amounts[c * width + place] as number;
      some ||= amount > 0;
      tops[c] = (bottoms[c] as number) + amount;
    }
    if (!some) {
      return;
    }
    context.beginPath();
    for (let c = stack.from; c < stack.to; c += 1) {
      const y = snap(yAt(plot, tops[c] as number));
      context.lineTo(xAt(c), y);
      context.lineTo(xAt(c + 1), y);
    }
    for (let c = stack.to - 1; c >= stack.from; c -= 1) {
      const y = snap(yAt(plot, bottoms[c] as number));
      context.lineTo(xAt(c + 1), y);
      context.lineTo(xAt(c), y);
    }
    context.fillStyle = colourOf(prefix);
    context.fill();
    bottoms.set(tops);
  });
}
