/** How busy lanes are in each pixel column, exactly, and with what. */
import type { Span } from '../../lib/span';
import { widthS } from '../../lib/span';
import { Amounts, NO_PREFIX } from './amounts';
import type { BlockLevel } from './blocks';
import { LEVEL_BITS, TRACE_S } from './blocks';
import type { LaneTasks, RunLimits } from './lane-tasks';
import { STATUS_BITS } from './lane-tasks';

/** Bits of `marks`: what else there is in a column; those of a status are where its code says. */
export const MARK = { erred: 2, interrupted: 4, lost: 8, released: 16, edge: 32, any: 64, running: 128 } as const;

/** What a column of several lanes can say of one of them. */
const SHARED_MARKS = MARK.erred | MARK.interrupted | MARK.lost | MARK.released | MARK.any;

/** What of a lane counts. */
export interface PrefixFilter {
  /** 1 for each prefix that is left out. */
  readonly hidden: Uint8Array | null;
  /** The prefix whose own part is measured too; -1: none. */
  readonly focus: number;
}

/** A task in flight: from `startS` to now. */
export interface OpenTask {
  readonly startS: number;
  readonly prefix: number;
}

/** What is in a lane. */
export interface LaneInSight {
  /** Undefined: no task has ended in it yet. */
  readonly tasks: LaneTasks | undefined;
  readonly open: readonly OpenTask[];
}

/** What is measured, alike in all lanes of a picture. */
export interface CoverageQuery {
  readonly span: Span;
  /** Equal parts of the span. */
  readonly columns: number;
  /** More than any number of a prefix. */
  readonly nPrefixes: number;
  readonly runs: RunLimits;
  readonly filter: PrefixFilter;
  /** The present: how far tasks in flight have come. */
  readonly nowS: number;
  /** Where time is held: what came later does not count; infinite: nowhere. */
  readonly untilS: number;
}

/** What there is in each column, of one lane or of several. */
export interface CoverageColumns {
  /** Part of the column's time in which a task ran, 0 to 1; the mean of several lanes. */
  readonly cover: Float32Array;
  /** The prefix that took most of it; NO_PREFIX where nothing ran. */
  readonly prefix: Uint16Array;
  /** Part of the column's time taken by the prefix in focus. */
  readonly focus: Float32Array;
  /** Part of the column's time taken by tasks that did not finish. */
  readonly bad: Float32Array;
  readonly marks: Uint8Array;
}

/** The columns of a row; made once, filled for each frame. */
export class Coverage implements CoverageColumns {
  cover = new Float32Array(0);
  prefix = new Uint16Array(0);
  focus = new Float32Array(0);
  bad = new Float32Array(0);
  marks = new Uint8Array(0);

  /** @param amounts room to work in, which several rows may share */
  constructor(private readonly amounts = new Amounts()) {}

  /** Have `columns` columns; those of another number are forgotten. */
  resize(columns: number): void {
    if (this.cover.length !== columns) {
      this.cover = new Float32Array(columns);
      this.prefix = new Uint16Array(columns);
      this.focus = new Float32Array(columns);
      this.bad = new Float32Array(columns);
      this.marks = new Uint8Array(columns);
    }
  }

  /** Have nothing in the columns from `first` up to `last`. */
  clear(first: number, last: number): void {
    for (const column of [this.cover, this.focus, this.bad, this.marks]) {
      column.fill(0, first, last);
    }
    this.prefix.fill(NO_PREFIX, first, last);
  }

  /** Measure some lanes together, from column `first` up to `last`; the other columns stay. */
  measure(lanes: readonly LaneInSight[], query: CoverageQuery, first = 0, last = query.columns): void {
    const { columns, span, nPrefixes } = query;
    this.resize(columns);
    this.amounts.resize(last - first, nPrefixes);
    const { stride } = this.amounts;
    const scale = columns / widthS(span);
    const own = lanes.length > 1 ? new Float32Array(stride) : null;
    for (let from = first; from < last; from += stride) {
      this.#measurePart(lanes, { query, scale, from, to: Math.min(from + stride, last) }, own);
    }
  }

  /** @param own room for one of several lanes */
  #measurePart(lanes: readonly LaneInSight[], part: Stretch, own: Float32Array | null): void {
    const { amounts } = this;
    const { query: { filter }, from, to } = part;
    this.clear(from, to);
    amounts.begin();
    const sum = this.cover.subarray(from, to);
    const cover = own ?? sum;
    for (const { tasks, open } of lanes) {
      if (tasks !== undefined) {
        sweep(tasks, part, cover, amounts, this.marks);
        this.#addBad(tasks, part);
      }
      this.#addOpen(open, part, cover);
      if (own !== null) {
        move(own, sum);
      }
    }
    this.prefix.set(amounts.strongest.subarray(0, to - from), from);
    for (let c = from; c < to; c += 1) {
      if (this.prefix[c] !== NO_PREFIX) {
        this.#mark(c, MARK.any);
        this.focus[c] = filter.focus < 0 ? 0 : amounts.get(c - from, filter.focus);
      }
    }
    if (own !== null) {
      this.#average(lanes.length, from, to);
    }
  }

  /** Add what is in flight, where nothing else ran. */
  #addOpen(open: readonly OpenTask[], { query, scale, from, to }: Stretch, cover: Float32Array): void {
    const { span, nowS, filter } = query;
    for (const { startS, prefix } of open) {
      const x0 = Math.max((startS - span.startS) * scale, from);
      const x1 = filter.hidden?.[prefix] === 1 ? 0 : Math.min((nowS - span.startS) * scale, to);
      for (let c = x0 | 0; c < x1; c += 1) {
        const covered = cover[c - from] as number;
        const free = Math.min(Math.min(x1, c + 1) - Math.max(x0, c), 1 - covered);
        if (free > 0) {
          this.#mark(c, MARK.running);
          this.amounts.add(c - from, prefix, free);
          cover[c - from] = covered + free;
        }
      }
    }
  }

  /** Mark and weigh what failed; few tasks do, so they are gone through on their own. */
  #addBad(tasks: LaneTasks, { query, scale, from, to }: Stretch): void {
    const { span, untilS } = query;
    for (const i of tasks.failedIn({ startS: span.startS + from / scale, stopS: Math.min(span.startS + to / scale, untilS) })) {
      if (isCounted(tasks, i, query)) {
        const x0 = Math.max(((tasks.startS[i] as number) - span.startS) * scale, from);
        const x1 = Math.min((Math.min(tasks.stopS[i] as number, untilS) - span.startS) * scale, to);
        const last = Math.min(Math.max(Math.ceil(x1) - 1, x0 | 0), to - 1);
        for (let c = x0 | 0; c <= last; c += 1) {
          this.#mark(c, 1 << ((tasks.flags[i] as number) & STATUS_BITS));
          this.bad[c] = (this.bad[c] as number) + Math.max(Math.min(x1, c + 1) - Math.max(x0, c), 0);
        }
      }
    }
  }

  #average(nLanes: number, from: number, to: number): void {
    for (const column of [this.cover, this.focus, this.bad]) {
      for (let c = from; c < to; c += 1) {
        column[c] = (column[c] as number) / nLanes;
      }
    }
    for (let c = from; c < to; c += 1) {
      this.marks[c] = (this.marks[c] as number) & SHARED_MARKS;
    }
  }

  #mark(column: number, mark: number): void {
    this.marks[column] = (this.marks[column] as number) | mark;
  }
}

/** Add `from` to `to`, and leave nothing. */
function move(from: Float32Array, to: Float32Array): void {
  for (let c = 0; c < to.length; c += 1) {
    to[c] = (to[c] as number) + (from[c] as number);
  }
  from.fill(0);
}

/** Some columns of what is looked at. */
interface Stretch {
  readonly query: CoverageQuery;
  /** Columns in a second. */
  readonly scale: number;
  /** The first column, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** A task at least this wide gets an edge, so that neighbours of one colour are told apart. */
const EDGE_COLUMNS = 4;

/**
 * Add to `cover` and `amounts`, whose first column is that of the stretch, and to `marks`, which has all columns.
 *
 * Tasks come sorted by start, so what ran until now in this lane is one stretch of time up to `reach`, and before it
 * nothing is covered a second time.
 */
function sweep(lane: LaneTasks, stretch: Stretch, cover: Float32Array, amounts: Amounts, marks: Uint8Array): void {
  const { query, scale, from, to } = stretch;
  const { startS, stopS, prefix, blocks } = lane;
  const originS = query.span.startS;
  const endS = Math.min(originS + to / scale, query.untilS);
  const end = Math.min((query.untilS - originS) * scale, to);
  const trace = TRACE_S * scale;
  const all = query.runs === null && query.filter.hidden === null;
  const first = lane.firstReaching(originS + from / scale);
  const last = lane.firstStarting(to === query.columns ? Math.min(query.span.stopS, query.untilS) : endS);
  let reach = from;
  for (let i = first; i < last; ) {
    if ((i & 7) === 0) {
      // The largest block that lies within one column and behind all before it.
      let taken = 0;
      for (let level = 1; level >= 0 && taken === 0; level -= 1) {
        const bits = LEVEL_BITS[level as 0 | 1];
        const of = level === 1 ? blocks.coarse : blocks.fine;
        const b = i >> bits;
        if (b << bits === i && (b + 1) << bits <= last && b < of.n) {
          const x0 = ((of.startS[b] as number) - originS) * scale;
          const x1 = ((of.stopS[b] as number) - originS) * scale;
          if (x0 >= reach && x0 < to && x1 <= end && x1 <= (x0 | 0) + 1 && (all || isWhole(of, b, query))) {
            const column = (x0 | 0) - from;
            for (let k = of.entry[b] as number; k < (of.entry[b + 1] as number); k += 1) {
              const amount = (of.seconds[k] as number) * scale;
              amounts.add(column, of.prefix[k] as number, amount);
              cover[column] = (cover[column] as number) + amount;
            }
            reach = x1;
            taken = 1 << bits;
          }
        }
      }
      if (taken > 0) {
        i += taken;
        continue;
      }
    }
    if (all || isCounted(lane, i, query)) {
      const begin = ((startS[i] as number) - originS) * scale;
      const stop = ((stopS[i] as number) - originS) * scale;
      const x0 = begin > from ? begin : from;
      if (x0 >= to) {
        break;
      }
      const column = x0 | 0;
      if (stop <= column + 1 && stop <= end) {
        if (stop >= x0) {
          amounts.add(column - from, prefix[i] as number, stop - x0 + trace);
        }
        if (stop > reach) {
          cover[column - from] = (cover[column - from] as number) + stop - (x0 > reach ? x0 : reach);
          reach = stop;
        }
      } else {
        const x1 = stop < end ? stop : end;
        for (let c = column; c < x1; c += 1) {
          const right = x1 < c + 1 ? x1 : c + 1;
          const left = x0 > c ? x0 : c;
          amounts.add(c - from, prefix[i] as number, right - left);
          if (right > reach) {
            cover[c - from] = (cover[c - from] as number) + right - (left > reach ? left : reach);
          }
        }
        reach = Math.max(reach, x1);
        // The first whole column of the bar: where it begins, coverage speaks.
        const edge = Math.ceil(begin);
        if (stop - begin >= EDGE_COLUMNS && edge >= from && edge < to) {
          marks[edge] = (marks[edge] as number) | MARK.edge;
        }
      }
    }
    i += 1;
  }
}

/** Whether a task counts at all. */
function isCounted({ run, prefix }: LaneTasks, i: number, { runs, filter: { hidden } }: CoverageQuery): boolean {
  return (runs === null || ((run[i] as number) >= runs[0] && (run[i] as number) <= runs[1])) && hidden?.[prefix[i] as number] !== 1;
}

/** Whether all tasks of a block count. */
function isWhole({ run, entry, prefix }: BlockLevel, b: number, { runs, filter: { hidden } }: CoverageQuery): boolean {
  if (runs !== null && ((run[b] as number) < runs[0] || (run[b] as number) > runs[1])) {
    return false;
  }
  if (hidden !== null) {
    for (let k = entry[b] as number; k < (entry[b + 1] as number); k += 1) {
      if (hidden[prefix[k] as number] === 1) {
        return false;
      }
    }
  }
  return true;
}

/** Less of a column than this is a rounding error. */
const NOTHING = 1e-6;

export interface Resampled {
  /** The columns that were filled: from the first up to the last, which is left out. */
  readonly first: number;
  readonly last: number;
  /** Whether columns lie on columns, so that the result is as exact as what it was made of. */
  readonly exact: boolean;
}

/** Fill the columns of `to` that lie within what `from` has. */
export function resample(from: CoverageColumns, fromSpan: Span, to: Coverage, toSpan: Span, columns: number): Resampled {
  to.resize(columns);
  const n = from.cover.length;
  const step = (widthS(toSpan) / columns / widthS(fromSpan)) * n;
  const shift = ((toSpan.startS - fromSpan.startS) / widthS(fromSpan)) * n;
  const exact = Math.abs(step - 1) * n < NOTHING && Math.abs(shift - Math.round(shift)) < NOTHING;
  const first = Math.min(Math.max(Math.ceil(-shift / step - NOTHING), 0), columns);
  const last = Math.max(Math.min(Math.floor((n - shift) / step + NOTHING), columns), first);
  for (let c = first; c < last; c += 1) {
    blend(from, Math.max(shift + c * step, 0), Math.min(shift + (c + 1) * step, n), to, c);
  }
  return { first, last, exact };
}

/** Column `c` of `to` is what `from` has between two places. */
function blend(from: CoverageColumns, left: number, right: number, to: Coverage, c: number): void {
  let [cover, focus, bad, marks, most] = [0, 0, 0, 0, 0];
  let prefix = NO_PREFIX;
  for (let k = Math.floor(left); k < right; k += 1) {
    const part = (Math.min(k + 1, right) - Math.max(k, left)) / (right - left);
    if (part > NOTHING) {
      const own = (from.cover[k] as number) * part;
      cover += own;
      focus += (from.focus[k] as number) * part;
      bad += (from.bad[k] as number) * part;
      marks |= from.marks[k] as number;
      if (from.prefix[k] !== NO_PREFIX && (prefix === NO_PREFIX || own > most)) {
        most = own;
        prefix = from.prefix[k] as number;
      }
    }
  }
  to.cover[c] = cover;
  to.focus[c] = focus;
  to.bad[c] = bad;
  to.marks[c] = marks;
  to.prefix[c] = prefix;
}
