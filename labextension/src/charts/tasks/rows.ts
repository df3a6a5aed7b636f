/** The rows of the chart: lanes grouped by worker, where collapsed workers are one row; no DOM. */
import { printable } from '../../lib/format';
import { Seen } from '../../lib/seen';
import type { Span } from '../../lib/span';
import type { RunLimits, TaskStore } from '../../store';

export interface LaneLabel {
  readonly id: number;
  readonly label: string;
  readonly worker: string;
}

/** A row that shows one lane. */
export interface LaneRow {
  readonly kind: 'lane';
  readonly id: number;
  readonly label: string;
  /** Whether a row of its worker stands above it. */
  readonly inset: boolean;
}

/** A row that stands for all lanes of a worker; its bars are the mean of them while it is collapsed. */
export interface WorkerRow {
  readonly kind: 'worker';
  readonly worker: string;
  readonly label: string;
  readonly lanes: readonly number[];
  readonly collapsed: boolean;
}

export type Row = LaneRow | WorkerRow;

/** With more lanes than these even a single worker has a row of its own. */
const LONE_WORKER_LANES = 16;
/** With more lanes than these several workers begin collapsed. */
const MAX_OPEN_LANES = 64;

/** Which workers are collapsed: as the person said, else by how many lanes there are. */
export class Folding {
  #all: boolean | null = null;
  readonly #said = new Map<string, boolean>();
  /** Grows with every change. */
  version = 0;

  isCollapsed(worker: string, nLanes: number, nWorkers: number): boolean {
    return this.#said.get(worker) ?? this.#all ?? (nWorkers > 1 && nLanes > MAX_OPEN_LANES);
  }

  set(worker: string, collapsed: boolean): void {
    this.#said.set(worker, collapsed);
    this.version += 1;
  }

  setAll(collapsed: boolean): void {
    this.#said.clear();
    this.#all = collapsed;
    this.version += 1;
  }
}

/** The rows for some lanes; a worker with several lanes has one above them if there is something to tell apart. */
export function rowsOf(lanes: readonly LaneLabel[], folding: Folding): Row[] {
  const workers = new Map<string, LaneLabel[]>();
  for (const lane of lanes) {
    const ofWorker = workers.get(lane.worker);
    if (ofWorker === undefined) {
      workers.set(lane.worker, [lane]);
    } else {
      ofWorker.push(lane);
    }
  }
  const grouped = workers.size > 1 || lanes.length > LONE_WORKER_LANES;
  const rows: Row[] = [];
  for (const [worker, ofWorker] of workers) {
    if (!grouped || ofWorker.length === 1) {
      const isAlone = workers.size > 1 && ofWorker.length === 1;
      rows.push(...ofWorker.map(({ id, label }): LaneRow => ({ kind: 'lane', id, label: isAlone ? label.replace(/, thread \d+$/, '') : label, inset: false })));
      continue;
    }
    const collapsed = folding.isCollapsed(worker, lanes.length, workers.size);
    rows.push({ kind: 'worker', worker, label: workerLabel(worker, ofWorker), lanes: ofWorker.map(lane => lane.id), collapsed });
    if (!collapsed) {
      // The row above them names the worker.
      rows.push(...ofWorker.map(({ id, label }): LaneRow => ({ kind: 'lane', id, label: label.replace(/^.+, (?=thread \d+$)/, ''), inset: true })));
    }
  }
  return rows;
}

/** Whether every worker that can be collapsed is. */
export function isFolded(rows: readonly Row[]): boolean {
  const workers = rows.filter(row => row.kind === 'worker');
  return workers.length > 0 && workers.every(row => row.collapsed);
}

export function rowOfLane(rows: readonly Row[], lane: number): number {
  const own = rows.findIndex(row => row.kind === 'lane' && row.id === lane);
  return own >= 0 ? own : rows.findIndex(row => row.kind === 'worker' && row.lanes.includes(lane));
}

/** Local workers are known by the number of their process, those of a cluster by what their lanes begin with. */
function workerLabel(worker: string, [lane]: readonly LaneLabel[]): string {
  return /(.+), thread \d+$/.exec(lane?.label ?? '')?.[1] ?? (/^\d+$/.test(worker) ? `process ${worker}` : worker);
}

export interface LaneView {
  readonly lanes: readonly LaneLabel[];
  readonly rows: readonly Row[];
}

export class LaneList {
  readonly #seen = new Seen();
  #view: LaneView = { lanes: [], rows: [] };

  constructor(
    private readonly store: TaskStore,
    private readonly folding: Folding
  ) {}

  /** The lanes with a task of these computes in `bounds`, and those in `open`. */
  refresh(bounds: Span, runs: RunLimits, open: Iterable<number>): LaneView {
    if (this.#seen.isNew(this.store.version, this.folding.version, ...(runs ?? []))) {
      const lanes = this.#lanes(bounds, runs, open);
      this.#view = { lanes, rows: rowsOf(lanes, this.folding) };
    }
    return this.#view;
  }

  #lanes(bounds: Span, runs: RunLimits, open: Iterable<number>): LaneLabel[] {
    const ids = new Set(open);
    // A worker may have got data for a task that no row tells of.
    const { store } = this;
    for (const source of [store, store.cluster?.activities ?? store]) {
      for (const id of source.laneIds) {
        if (source.lane(id)?.hasAny(bounds, runs) === true) {
          ids.add(id);
        }
      }
    }
    return inOrder(
      [...ids]
        .sort((a, b) => a - b)
        .map(id => {
          const lane = this.store.tables.lanes[id];
          return { id, label: printable(lane?.label ?? `lane ${id}`, 40), worker: printable(lane?.worker ?? '', 80) };
        })
    );
  }
}

/** Lanes whose names differ in their numbers only by these, 2 before 10; others as they appeared. */
export function inOrder(lanes: readonly LaneLabel[]): LaneLabel[] {
  const kinds = new Map<string, number>();
  const placed = lanes.map(lane => {
    const kind = lane.label.replace(/\d+/g, '#');
    const place = kinds.get(kind) ?? kinds.size;
    kinds.set(kind, place);
    return { lane, numbers: [place, ...(lane.label.match(/\d+/g) ?? []).map(Number)] };
  });
  const compare = (a: readonly number[], b: readonly number[]): number => {
    const at = a.findIndex((n, i) => n !== b[i]);
    return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
  };
  return placed.sort((a, b) => compare(a.numbers, b.numbers)).map(({ lane }) => lane);
}
