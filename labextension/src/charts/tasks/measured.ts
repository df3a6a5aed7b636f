/**
 * What is measured of each row in sight.
 *
 * Where nothing changed it is kept, and where the view moved by whole pixels only what came into sight is measured. While a
 * person moves through more than can be measured in time, what was measured before is stretched; the view asks for the
 * exact picture as soon as the gesture rests. Where even a picture that rests takes longer than a frame may, some rows are
 * measured in each of the next frames, and the others show what was measured before.
 */
import type { Span } from '../../lib/span';
import type { CoverageColumns, LaneInSight, TaskStore } from '../../store';
import { Amounts, Coverage, resample } from '../../store';
import type { Row } from './rows';
import type { CoverageQuery, Scene } from './scene';

/** Measuring may take as long as this in each frame, and the row that is being measured then. */
const HASTE_MS = 8;
/** New tasks may be left out of the picture for as long as this, while a person moves. */
const STALE_MS = 500;

/** What is known of a row. */
interface Entry {
  /** Of `span`. */
  exact: Coverage;
  span: Span;
  /** What was stretched. */
  other: Coverage;
  /** Changes with what is asked, and with the tasks. */
  queryId: number;
  version: number;
  atMs: number;
}

/** A row that has to be measured. */
interface Due {
  /** Among the rows. */
  readonly place: number;
  readonly entry: Entry;
  readonly lanes: readonly LaneInSight[];
}

export class MeasuredRows {
  /** Whether some row is not exact. */
  isApproximate = false;
  /** Rows that are to be measured in the next frames. */
  rowsPending = 0;
  #entries = new Map<string, Entry>();
  #query: CoverageQuery | null = null;
  #queryId = 0;
  #epoch: string | null = null;
  /** How long it took when everything was measured. */
  #tookMs = 0;
  readonly #amounts = new Amounts();

  constructor(private readonly clockMs: () => number = () => performance.now()) {}

  /** Measure rows; null for those without bars. */
  measure(store: Pick<TaskStore, 'epoch' | 'lane'>, { open }: Pick<Scene, 'open'>, rows: readonly Row[], query: CoverageQuery): (CoverageColumns | null)[] {
    const moved = this.#query !== null && !isSame(this.#query.span, query.span);
    this.#queryId += this.#query !== null && isAlike(this.#query, query) && this.#epoch === store.epoch ? 0 : 1;
    this.#query = query;
    const before = this.#epoch === store.epoch ? this.#entries : new Map<string, Entry>();
    this.#epoch = store.epoch;
    this.#entries = new Map();
    this.isApproximate = false;
    const mayStretch = moved && this.#tookMs > HASTE_MS;
    const nowMs = this.clockMs();
    const due: Due[] = [];
    const measured = rows.map((row, place) => {
      if (row.kind === 'worker' && !row.collapsed) {
        return null;
      }
      const name = row.kind === 'lane' ? `${row.id}` : ` ${row.worker}`;
      const ids = row.kind === 'lane' ? [row.id] : row.lanes;
      const lanes = ids.map(id => ({ tasks: store.lane(id), open: open.get(id) ?? [] }));
      const entry = before.get(name) ?? newEntry(query.span, this.#amounts);
      this.#entries.set(name, entry);
      const known = this.#known(entry, lanes, query, mayStretch, nowMs);
      if (known === null) {
        due.push({ place, entry, lanes });
      }
      return known;
    });
    // Those that have waited longest come first.
    due.sort((a, b) => a.entry.atMs - b.entry.atMs);
    const tookMs = this.#measureDue(due, query, nowMs);
    due.forEach(({ place, entry }, i) => {
      measured[place] = i < due.length - this.rowsPending ? entry.exact : lastKnown(entry, query);
    });
    this.isApproximate ||= this.rowsPending > 0;
    if (due.length * 2 > measured.length) {
      this.#tookMs = (tookMs * due.length) / Math.max(due.length - this.rowsPending, 1);
    }
    return measured;
  }

  /** Measure one row, and more while there is time; returns the milliseconds it took. */
  #measureDue(due: readonly Due[], query: CoverageQuery, beganMs: number): number {
    this.rowsPending = due.length;
    let tookMs = 0;
    for (const { entry, lanes } of due) {
      entry.exact.measure(lanes, query);
      Object.assign(entry, { span: query.span, queryId: this.#queryId, version: versionOf(lanes), atMs: beganMs });
      this.rowsPending -= 1;
      tookMs = this.clockMs() - beganMs;
      if (tookMs > HASTE_MS) {
        break;
      }
    }
    return tookMs;
  }

  /** What follows from what was measured before; null: not enough. */
  #known(entry: Entry, lanes: readonly LaneInSight[], query: CoverageQuery, mayStretch: boolean, nowMs: number): Coverage | null {
    const fresh = entry.version === versionOf(lanes) && lanes.every(lane => lane.open.length === 0);
    if (entry.queryId !== this.#queryId || !(fresh || (mayStretch && nowMs - entry.atMs < STALE_MS))) {
      return null;
    }
    if (isSame(entry.span, query.span)) {
      return fresh ? entry.exact : null;
    }
    const { exact, other } = entry;
    const { first, last, exact: isExact } = resample(exact, entry.span, other, query.span, query.columns);
    const settled = isExact && fresh;
    if ((last - first) * 2 < query.columns || !(settled || mayStretch)) {
      return null;
    }
    other.measure(lanes, query, 0, first);
    other.measure(lanes, query, last, query.columns);
    if (settled) {
      Object.assign(entry, { exact: other, other: exact, span: query.span });
    } else {
      this.isApproximate = true;
    }
    return other;
  }
}

/** What was measured before, if anything, where it would be now. */
function lastKnown({ exact, other, span }: Entry, query: CoverageQuery): Coverage {
  if (exact.cover.length === 0) {
    other.resize(query.columns);
    other.clear(0, query.columns);
    return other;
  }
  const { first, last } = resample(exact, span, other, query.span, query.columns);
  other.clear(0, first);
  other.clear(last, query.columns);
  return other;
}

function newEntry(span: Span, amounts: Amounts): Entry {
  return { exact: new Coverage(amounts), other: new Coverage(amounts), span, queryId: -1, version: -1, atMs: -Infinity };
}

/** Grows with every change of one of the lanes. */
function versionOf(lanes: readonly LaneInSight[]): number {
  return lanes.reduce((sum, { tasks }) => sum + (tasks?.version ?? 0), 0);
}

function isSame(a: Span, b: Span): boolean {
  return a.startS === b.startS && a.stopS === b.stopS;
}

/** Whether all but the span is the same. */
function isAlike(a: CoverageQuery, b: CoverageQuery): boolean {
  return (
    a.columns === b.columns && a.untilS === b.untilS && a.runs?.join() === b.runs?.join() &&
    a.filter.focus === b.filter.focus && a.filter.hidden?.join() === b.filter.hidden?.join()
  );
}
