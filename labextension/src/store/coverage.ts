/** How busy lanes are in each pixel column, exactly, and with what. */
import type { Span } from '../lib/span';
import { widthS } from '../lib/span';
import { Amounts, NO_PREFIX } from './amounts';
import type { LaneTasks, RunRange } from './lane-tasks';
import { STATUS_BITS } from './lane-tasks';
import type { Stretch } from './sweep';
import { isCounted, sweep } from './sweep';

/** Bits of `marks`: what else there is in a column. */
export const MARK = { erred: 2, interrupted: 4, lost: 8, running: 16, edge: 32, any: 64 } as const;

/** What a column of several lanes can say of one of them. */
const SHARED_MARKS = MARK.erred | MARK.interrupted | MARK.lost | MARK.any;

/** What of a lane counts. */
export interface Sight {
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
export interface Look {
  readonly span: Span;
  /** Equal parts of the span. */
  readonly columns: number;
  /** More than any number of a prefix. */
  readonly nPrefixes: number;
  readonly runs: RunRange;
  readonly sight: Sight;
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
  measure(lanes: readonly LaneInSight[], look: Look, first = 0, last = look.columns): void {
    const { columns, span, nPrefixes } = look;
    this.resize(columns);
    this.amounts.resize(last - first, nPrefixes);
    const { stride } = this.amounts;
    const scale = columns / widthS(span);
    const own = lanes.length > 1 ? new Float32Array(stride) : null;
    for (let from = first; from < last; from += stride) {
      this.#measurePart(lanes, { look, scale, from, to: Math.min(from + stride, last) }, own);
    }
  }

  /** @param own room for one of several lanes */
  #measurePart(lanes: readonly LaneInSight[], part: Stretch, own: Float32Array | null): void {
    const { amounts } = this;
    const { look: { sight }, from, to } = part;
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
        this.focus[c] = sight.focus < 0 ? 0 : amounts.get(c - from, sight.focus);
      }
    }
    if (own !== null) {
      this.#average(lanes.length, from, to);
    }
  }

  /** Add what is in flight, where nothing else ran. */
  #addOpen(open: readonly OpenTask[], { look, scale, from, to }: Stretch, cover: Float32Array): void {
    const { span, nowS, sight } = look;
    for (const { startS, prefix } of open) {
      const x0 = Math.max((startS - span.startS) * scale, from);
      const x1 = sight.hidden?.[prefix] === 1 ? 0 : Math.min((nowS - span.startS) * scale, to);
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
  #addBad(tasks: LaneTasks, { look, scale, from, to }: Stretch): void {
    const { span, untilS } = look;
    for (const i of tasks.failedIn({ startS: span.startS + from / scale, stopS: Math.min(span.startS + to / scale, untilS) })) {
      if (isCounted(tasks, i, look)) {
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
