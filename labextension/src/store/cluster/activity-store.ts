/** What workers of a cluster did besides computing, by lane; kinds stand where tasks have prefixes. */
import type { ActivityKind, Columns, PageTables } from '../../wire';
import { ACTIVITIES } from '../../wire';
import { columnTable } from '../columns';
import { LaneRows } from '../tasks/lane-rows';
import type { LaneTasks } from '../tasks/lane-tasks';
import type { RunRange } from '../tables';
import { inRunRange } from '../tables';

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

/** By kind, of one compute. */
interface KindSums {
  readonly n: Float64Array;
  readonly seconds: Float64Array;
  readonly nbytes: Float64Array;
}

const ActivityTable = columnTable({ source: Uint16Array, nbytes: Float64Array });

export class ActivityStore extends LaneRows {
  /** Grows with every change. */
  version = 0;
  readonly #rows = new ActivityTable();
  readonly #sources: (string | undefined)[] = [];
  readonly #sums = new Map<number, KindSums>();

  /** Take rows that have not come before, and the bytes of older ones that became known. */
  append({ activities, sources, state }: Pick<PageTables, 'activities' | 'sources' | 'state'>): void {
    sources.columns.text.forEach((text, i) => { this.#sources[sources.first + i] = text; });
    const { n, columns } = activities;
    const gone = state.columns.nActivitiesDropped[0] ?? 0;
    const { skip } = this.take(n === 0 ? gone : activities.first, n, columns.lane, (lane, i, row) => { this.#push(columns, lane, i, row); });
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
    const place = (lane.row[i] as number) - this.firstRow;
    const source = this.#rows.source[place] ?? 0;
    const nbytes = this.#rows.nbytes[place] ?? NaN;
    return {
      kind: ACTIVITIES[lane.prefix[i] ?? 0] ?? 'other',
      group: lane.group[i] ?? 0,
      startS: lane.startS[i] ?? 0,
      stopS: lane.stopS[i] ?? 0,
      source: source === 0 ? null : (this.#sources[source] ?? null),
      nbytes: Number.isNaN(nbytes) ? null : nbytes
    };
  }

  /** How much of each kind there is in some computes; kinds of which there is nothing are left out. */
  sums(runRange: RunRange): ActivitySum[] {
    const runs = [...this.#sums].filter(([run]) => inRunRange(run, runRange)).map(([, sums]) => sums);
    return ACTIVITIES.map((kind, code) => ({
      kind,
      n: runs.reduce((sum, of) => sum + (of.n[code] as number), 0),
      seconds: runs.reduce((sum, of) => sum + (of.seconds[code] as number), 0),
      nbytes: runs.reduce((sum, of) => sum + (of.nbytes[code] as number), 0)
    })).filter(({ n }) => n > 0);
  }

  #push({ activity, run: runs, group, startS: starts, durationS: durations, nbytes: sizes }: Columns<'activities'>, lane: LaneTasks, i: number, row: number): void {
    const [run, code] = [runs[i] as number, activity[i] as number];
    const [startS, durationS, size] = [starts[i] as number, durations[i] as number, sizes[i] as number];
    lane.push(startS, startS + durationS, group[i] as number, code, 0, run, row);
    const { n, seconds, nbytes } = this.#sumsOf(run);
    n[code] = (n[code] as number) + 1;
    seconds[code] = (seconds[code] as number) + durationS;
    nbytes[code] = (nbytes[code] as number) + (Number.isNaN(size) ? 0 : size);
  }

  protected dropped(_row: number, count: number): void {
    this.#rows.dropFirst(count);
  }

  #sumsOf(run: number): KindSums {
    let sums = this.#sums.get(run);
    if (sums === undefined) {
      const make = (): Float64Array => new Float64Array(ACTIVITIES.length);
      sums = { n: make(), seconds: make(), nbytes: make() };
      this.#sums.set(run, sums);
    }
    return sums;
  }
}
