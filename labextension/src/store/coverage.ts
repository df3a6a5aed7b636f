/** How busy a lane is in each pixel column, exactly, and with what; one pass over the tasks or blocks in sight. */
import type { Span } from '../lib/span';
import { widthS } from '../lib/span';
import type { TaskBlocks } from './blocks';
import { BLOCK, BLOCK_BITS, BLOCK_KIND, SLOTS } from './blocks';
import type { LaneTasks, RunRange } from './lane-tasks';
import { STATUS_BITS } from './lane-tasks';

export const NO_PREFIX = 65535;

/** Bits of `marks`: what else there is in a column. */
export const MARK = { erred: 2, interrupted: 4, lost: 8, running: 16, edge: 32, any: 64 } as const;

/** A task at least this wide gets an edge, so that neighbours of one colour are told apart. */
const EDGE_COLUMNS = 4;
/** What a task of no duration weighs, so that it is seen where nothing else is. */
const NO_WIDTH = 1e-12;

/** What of a lane counts. */
export interface Sight {
  /** 1 for each prefix that is left out. */
  readonly hidden: Uint8Array | null;
  /** The prefix whose own part is measured too; -1: none. */
  readonly focus: number;
  /** Whether the prefix of a column may be a guess where eight tasks in a row have more than three; for haste. */
  readonly rough?: boolean;
}

/** Where the amounts of each prefix in each column are added up over lanes. */
export interface AmountSink {
  add(column: number, prefix: number, amount: number): void;
}

const ALL_OF_IT: Sight = { hidden: null, focus: -1 };

/** What there is in each column, of one lane or of several. */
export interface CoverageColumns {
  /** Part of the column's time in which at least one task ran, 0 to 1. */
  readonly cover: Float32Array;
  /** The prefix that took most of it; NO_PREFIX where nothing ran. */
  readonly prefix: Uint16Array;
  /** Part of the column's time taken by the prefix in focus. */
  readonly focus: Float32Array;
  /** Part of the column's time taken by tasks that did not finish. */
  readonly bad: Float32Array;
  readonly marks: Uint8Array;
}

/** A task in flight: from `startS` to now. */
export interface OpenTask {
  readonly startS: number;
  readonly prefix: number;
}

/** What is the same for all blocks of a lane. */
interface Measure {
  readonly span: Span;
  readonly scale: number;
  readonly runs: RunRange;
  readonly hidden: Uint8Array | null;
  readonly roughest: number;
}

/** The columns of one lane; made once, filled for each frame. */
export class LaneCoverage implements CoverageColumns {
  cover = new Float32Array(0);
  prefix = new Uint16Array(0);
  focus = new Float32Array(0);
  bad = new Float32Array(0);
  marks = new Uint8Array(0);
  /** Tasks looked at. */
  visited = 0;
  #bestAmount = new Float32Array(0);
  #sums = new Float64Array(0);
  readonly #touched: number[] = [];
  #current = -1;
  #focusId = -1;
  #until = 0;

  /** @param sink hears of every amount, if several lanes are added up */
  constructor(private readonly sink: AmountSink | null = null) {}

  /** Measure `lane` (undefined: it has no ended task yet) in `columns` equal parts of `span`. */
  measure(lane: LaneTasks | undefined, span: Span, columns: number, runs: RunRange = null, nPrefixes = 1, sight = ALL_OF_IT): void {
    this.#reset(columns, nPrefixes);
    this.#focusId = sight.focus;
    if (lane === undefined || columns === 0) {
      return;
    }
    const { startS, stopS, prefix, flags, run } = lane;
    const { cover } = this;
    const { hidden } = sight;
    const scale = columns / widthS(span);
    const last = lane.firstStarting(span.stopS);
    const first = lane.firstReaching(span.startS);
    let until = 0;
    const sums = this.#sums;
    const touched = this.#touched;
    let column = -1;
    const how: Measure = { span, scale, runs, hidden, roughest: sight.rough === true ? BLOCK_KIND.mixed : BLOCK_KIND.plain };
    for (let i = first; i < last; i += 1) {
      if ((i & (BLOCK - 1)) === 0) {
        const block = this.#addBlocks(lane, i >> BLOCK_BITS, last >> BLOCK_BITS, until, how);
        if (block << BLOCK_BITS > i) {
          column = this.#current;
          until = this.#until;
          i = (block << BLOCK_BITS) - 1;
          continue;
        }
      }
      if (runs !== null && ((run[i] as number) < runs[0] || (run[i] as number) > runs[1])) {
        continue;
      }
      const id = prefix[i] as number;
      if (hidden !== null && hidden[id] === 1) {
        continue;
      }
      const x0 = Math.max(((startS[i] as number) - span.startS) * scale, 0);
      const x1 = Math.min(((stopS[i] as number) - span.startS) * scale, columns);
      if (x0 >= until && x0 >= column && x1 < column + 1 && x1 >= x0) {
        // Most tasks begin and end in the column in hand; all else is the same, at length.
        const sum = sums[id] as number;
        if (sum === 0) {
          touched.push(id);
        }
        sums[id] = sum + Math.max(x1 - x0, NO_WIDTH);
        cover[column] = (cover[column] as number) + x1 - x0;
        until = x1;
      } else if (x1 >= x0) {
        if (x1 > until) {
          this.#addCover(Math.max(x0, until), x1);
          until = x1;
        }
        this.#addPrefix(x0, x1, id);
        column = this.#current;
        if (x1 - x0 >= EDGE_COLUMNS && (startS[i] as number) >= span.startS) {
          this.#mark(x0 | 0, MARK.edge);
        }
      }
      const status = (flags[i] as number) & STATUS_BITS;
      if (status !== 0) {
        this.#addBad(x0, x1, 1 << status);
      }
    }
    this.#flush();
    this.visited = Math.max(last - first, 0);
  }

  /** Add what is in flight, where nothing else ran. */
  addOpen(tasks: readonly OpenTask[], nowS: number, span: Span): void {
    const columns = this.cover.length;
    const scale = columns / widthS(span);
    for (const { startS, prefix } of tasks) {
      const x0 = Math.max((startS - span.startS) * scale, 0);
      const x1 = Math.min((nowS - span.startS) * scale, columns);
      for (let c = x0 | 0; c < x1; c += 1) {
        const own = Math.min(x1, c + 1) - Math.max(x0, c);
        const free = Math.min(own, 1 - (this.cover[c] as number));
        if (free > 0) {
          this.#mark(c, MARK.running);
          this.#tell(c, prefix, free);
        }
        if (free > (this.#bestAmount[c] as number)) {
          this.prefix[c] = prefix;
          this.#bestAmount[c] = free;
        }
        this.cover[c] = (this.cover[c] as number) + Math.max(free, 0);
      }
    }
  }

  /** Forget what comes after a column, of which the part before `x` stays. */
  cutFrom(x: number): void {
    const first = Math.max(Math.floor(x), 0);
    if (first >= this.cover.length) {
      return;
    }
    const part = Math.min(this.cover[first] as number, Math.max(x - first, 0));
    this.cover[first] = part;
    const from = part > 0 ? first + 1 : first;
    for (const column of [this.cover, this.focus, this.bad, this.marks]) {
      column.fill(0, from);
    }
    this.prefix.fill(NO_PREFIX, from);
  }

  #reset(columns: number, nPrefixes: number): void {
    if (this.cover.length !== columns) {
      this.cover = new Float32Array(columns);
      this.prefix = new Uint16Array(columns);
      this.focus = new Float32Array(columns);
      this.bad = new Float32Array(columns);
      this.marks = new Uint8Array(columns);
      this.#bestAmount = new Float32Array(columns);
    }
    if (this.#sums.length < nPrefixes) {
      this.#sums = new Float64Array(nPrefixes);
    }
    this.cover.fill(0);
    this.prefix.fill(NO_PREFIX);
    this.focus.fill(0);
    this.bad.fill(0);
    this.marks.fill(0);
    this.#bestAmount.fill(0);
    this.visited = 0;
    this.#current = -1;
  }

  /**
   * Add blocks from `block` on, as long as each lies within one column and behind all before it.
   *
   * Returns the first one that does not; `#until` is then where the last one ended.
   */
  #addBlocks({ blocks, run }: LaneTasks, block: number, stop: number, until: number, { span, scale, runs, hidden, roughest }: Measure): number {
    const { kind, startS, stopS, prefix, seconds } = blocks;
    const { cover } = this;
    const sums = this.#sums;
    const touched = this.#touched;
    const origin = span.startS;
    let b = block;
    let column = this.#current;
    for (; b < stop; b += 1) {
      const of = kind[b] as number;
      const x0 = ((startS[b] as number) - origin) * scale;
      const x1 = ((stopS[b] as number) - origin) * scale;
      const c = x0 | 0;
      if (of === BLOCK_KIND.none || of > roughest || c !== (x1 | 0) || x0 < until || c < column || c >= cover.length) {
        break;
      }
      const slot = b * SLOTS;
      if (runs !== null && !inRange(run[b << BLOCK_BITS] as number, runs)) {
        break;
      }
      if (hidden !== null && hasHidden(blocks, slot, hidden)) {
        break;
      }
      if (c > column) {
        this.#flush();
        this.#current = column = c;
      }
      for (let k = slot; k < slot + SLOTS; k += 1) {
        const amount = (seconds[k] as number) * scale;
        if (amount === 0) {
          break;
        }
        const id = prefix[k] as number;
        const sum = sums[id] as number;
        if (sum === 0) {
          touched.push(id);
        }
        sums[id] = sum + amount;
        cover[c] = (cover[c] as number) + amount;
      }
      until = x1;
    }
    this.#until = until;
    return b;
  }

  #addCover(x0: number, x1: number): void {
    const c0 = x0 | 0;
    const c1 = Math.min(x1 | 0, this.cover.length);
    if (c0 === c1) {
      this.cover[c0] = (this.cover[c0] as number) + x1 - x0;
      return;
    }
    this.cover[c0] = (this.cover[c0] as number) + c0 + 1 - x0;
    this.cover.fill(1, c0 + 1, c1);
    if (c1 < this.cover.length) {
      this.cover[c1] = x1 - c1;
    }
  }

  /** Sums are kept for the column in hand alone: tasks come sorted by start, so earlier ones are settled. */
  #addPrefix(x0: number, x1: number, prefix: number): void {
    const n = this.cover.length;
    const c0 = Math.min(x0 | 0, n - 1);
    const c1 = Math.min(x1 | 0, n - 1);
    if (c0 > this.#current) {
      this.#flush();
      this.#current = c0;
    }
    if (c0 === c1) {
      this.#addTo(c0, prefix, x1 - x0);
      return;
    }
    this.#addTo(c0, prefix, c0 + 1 - x0);
    for (let c = c0 + 1; c < c1; c += 1) {
      if (c !== this.#current) {
        this.#offer(c, prefix, 1);
      } else {
        this.#addTo(c, prefix, 1);
      }
    }
    if (c1 > this.#current) {
      this.#flush();
      this.#current = c1;
    }
    if (x1 > c1) {
      this.#addTo(c1, prefix, x1 - c1);
    }
  }

  #addTo(column: number, prefix: number, amount: number): void {
    if (column !== this.#current) {
      this.#offer(column, prefix, amount);
      return;
    }
    const sum = this.#sums[prefix] as number;
    if (sum === 0) {
      this.#touched.push(prefix);
    }
    this.#sums[prefix] = sum + Math.max(amount, NO_WIDTH);
  }

  #flush(): void {
    for (const prefix of this.#touched) {
      this.#offer(this.#current, prefix, this.#sums[prefix] as number);
      this.#sums[prefix] = 0;
    }
    this.#touched.length = 0;
  }

  #offer(column: number, prefix: number, amount: number): void {
    this.#mark(column, MARK.any);
    this.#tell(column, prefix, amount);
    if (amount > (this.#bestAmount[column] as number)) {
      this.#bestAmount[column] = amount;
      this.prefix[column] = prefix;
    }
  }

  #tell(column: number, prefix: number, amount: number): void {
    if (prefix === this.#focusId) {
      this.focus[column] = (this.focus[column] as number) + amount;
    }
    this.sink?.add(column, prefix, amount);
  }

  #addBad(x0: number, x1: number, mark: number): void {
    const last = Math.min(Math.max(Math.ceil(x1) - 1, x0 | 0), this.cover.length - 1);
    for (let c = x0 | 0; c <= last; c += 1) {
      this.#mark(c, mark);
      this.bad[c] = (this.bad[c] as number) + Math.max(Math.min(x1, c + 1) - Math.max(x0, c), 0);
    }
  }

  #mark(column: number, mark: number): void {
    this.marks[column] = (this.marks[column] as number) | mark;
  }
}

function inRange(run: number, [first, last]: readonly [number, number]): boolean {
  return run >= first && run <= last;
}

function hasHidden({ prefix, seconds }: TaskBlocks, slot: number, hidden: Uint8Array): boolean {
  for (let k = slot; k < slot + SLOTS; k += 1) {
    if ((seconds[k] as number) > 0 && hidden[prefix[k] as number] === 1) {
      return true;
    }
  }
  return false;
}
