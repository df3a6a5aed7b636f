/** What workers of a cluster did besides computing, by lane; kinds stand where tasks have prefixes. */
import type { ActivityKind, PageTables } from '../../wire';
import { ACTIVITIES } from '../../wire';
import { columnTable } from '../columns';
import { LaneRows } from '../tasks/lane-rows';
import type { LaneTasks } from '../tasks/lane-tasks';
import type { RunRange } from '../tables';
import { inRunRange } from '../tables';
import type { Pair } from './pairs';
import { Pairs } from './pairs';

/** All there is to say about one activity. */
export interface ActivityDetail {
  readonly kind: ActivityKind;
  readonly group: number;
  readonly startS: number;
  readonly stopS: number;
  /** The address that data came from, or what a failed attempt raised; null: nothing, or nobody knows. */
  readonly source: string | null;
  /** Null: unknown. */
  readonly nbytes: number | null;
}

/** Sums over some computes. */
export interface ActivitySum {
  readonly kind: ActivityKind;
  readonly n: number;
  readonly seconds: number;
  /** Of those whose bytes are known. */
  readonly nbytes: number;
}

const TRANSFER = ACTIVITIES.indexOf('transfer');

const ActivityTable = columnTable({ source: Uint16Array, nbytes: Float64Array });

export class ActivityStore extends LaneRows {
  /** Grows with every change. */
  version = 0;
  readonly #rows = new ActivityTable();
  readonly #sources: (string | undefined)[] = [];

  /** Take rows that have not come before, and the bytes of older ones that became known. */
  append({ activities, sources, state }: Pick<PageTables, 'activities' | 'sources' | 'state'>): void {
    sources.columns.text.forEach((text, i) => { this.#sources[sources.first + i] = text; });
    const { n, columns } = activities;
    const gone = state.columns.nActivitiesDropped[0] ?? 0;
    const { skip } = this.take(n === 0 ? gone : activities.first, n, columns.lane, (lane, i, row) => {
      const startS = columns.startS[i] as number;
      lane.push(startS, startS + (columns.durationS[i] as number), columns.group[i] as number, columns.activity[i] as number, 0, columns.run[i] as number, row);
    });
    this.#rows.add({ source: columns.source, nbytes: columns.nbytes }, skip, n);
    this.dropOld(gone);
    this.version += Number(n + sources.n > 0);
  }

  /** The `i`-th activity of a lane. */
  detail(laneId: number, i: number): ActivityDetail | null {
    const lane = this.lane(laneId);
    if (lane === undefined || i < 0 || i >= lane.n) {
      return null;
    }
    const [nbytes, source] = [this.nbytesOf(lane, i), this.#sourceOf(lane, i)];
    return {
      kind: ACTIVITIES[lane.prefix[i] ?? 0] ?? 'other',
      group: lane.group[i] ?? 0,
      startS: lane.startS[i] ?? 0,
      stopS: lane.stopS[i] ?? 0,
      source: source === '' ? null : (source ?? null),
      nbytes: Number.isNaN(nbytes) ? null : nbytes
    };
  }

  /** NaN: unknown. */
  nbytesOf(lane: LaneTasks, i: number): number {
    return this.#rows.nbytes[(lane.row[i] as number) - this.firstRow] as number;
  }

  #sourceOf(lane: LaneTasks, i: number): string | undefined {
    return this.#sources[this.#rows.source[(lane.row[i] as number) - this.firstRow] as number];
  }

  /** The transfers of some computes between each two workers. */
  transfers(runRange: RunRange, workerOf: (laneId: number) => string | undefined): Pair[] {
    const pairs = new Pairs();
    for (const id of this.laneIds) {
      const [lane, to] = [this.lane(id) as LaneTasks, workerOf(id)];
      for (let i = 0; i < lane.n; i += 1) {
        const from = lane.prefix[i] === TRANSFER && this.#sourceOf(lane, i);
        if (from && to !== undefined && from !== to && inRunRange(lane.run[i] as number, runRange)) {
          const [firstS, lastS, nbytes] = [lane.startS[i] as number, lane.stopS[i] as number, this.nbytesOf(lane, i)];
          const isSized = !Number.isNaN(nbytes);
          pairs.add(from, to, { n: 1, nOther: Number(!isSized), nbytes: isSized ? nbytes : 0, seconds: isSized ? lastS - firstS : 0, firstS, lastS });
        }
      }
    }
    return pairs.all;
  }

  protected dropped(_row: number, count: number): void {
    this.#rows.dropFirst(count);
  }
}
