/** Which lanes a view has, kept until the store changes: at thousands of lanes asking each frame would be felt. */
import { printable } from '../../lib/format';
import type { Span } from '../../lib/span';
import type { RunRange, TaskStore } from '../../store';
import type { Folding, LaneLabel, Row } from './rows';
import { rowsOf } from './rows';

export interface LaneView {
  readonly lanes: readonly LaneLabel[];
  readonly rows: readonly Row[];
}

export class LaneList {
  #seen = '';
  #view: LaneView = { lanes: [], rows: [] };

  constructor(
    private readonly store: TaskStore,
    private readonly folding: Folding
  ) {}

  /** The lanes with a task of these computes in `bounds`, and those in `open`. */
  refresh(bounds: Span, runs: RunRange, open: Iterable<number>): LaneView {
    const seen = `${this.store.version} ${this.folding.version} ${runs?.join(' ') ?? ''}`;
    if (seen !== this.#seen) {
      this.#seen = seen;
      const lanes = this.#lanes(bounds, runs, open);
      this.#view = { lanes, rows: rowsOf(lanes, this.folding) };
    }
    return this.#view;
  }

  #lanes(bounds: Span, runs: RunRange, open: Iterable<number>): LaneLabel[] {
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
    return [...ids]
      .sort((a, b) => a - b)
      .map(id => {
        const lane = this.store.tables.lanes[id];
        return { id, label: printable(lane?.label ?? `lane ${id}`, 40), worker: printable(lane?.worker ?? '', 80) };
      });
  }
}
