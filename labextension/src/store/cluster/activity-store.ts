/** What workers of a cluster did besides computing, by lane; kinds stand where tasks have prefixes. */
import type { ActivityKind, Section, PageTables } from '../../wire';
import { ACTIVITIES } from '../../wire';
import { columnTable, knownOf } from '../columns';
import { LaneTasks } from '../tasks/lane-tasks';
import type { RunWindow } from '../tables';
import { inWindow } from '../tables';

/** As many rows more than the recorder holds may be kept. */
const SLACK = 65_536;

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

const ActivityTable = columnTable({ source: Uint16Array, nbytes: Float64Array, kind: Uint8Array, run: Int32Array });

export class ActivityStore {
  readonly #rows = new ActivityTable();
  #lanes: (LaneTasks | undefined)[] = [];
  #sources: (string | undefined)[] = [];
  /** Numbers of the first row that is held, and of the next to come. */
  #first = 0;
  #next = 0;
  #missing = 0;
  #version = 0;
  readonly #sums = new Map<number, KindSums>();

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }
  /** Rows held. */
  get n(): number {
    return this.#next - this.#first;
  }
  /** Rows that are not here. */
  get missing(): number {
    return this.#missing;
  }

  /** Lanes with activities, by id. */
  get laneIds(): number[] {
    return this.#lanes.flatMap((lane, id) => (lane === undefined ? [] : [id]));
  }

  lane(id: number): LaneTasks | undefined {
    return this.#lanes[id];
  }

  /** Take rows that have not come before, and the bytes of older ones that became known. */
  append({ activities, sources, state }: Pick<PageTables, 'activities' | 'sources' | 'state'>): void {
    sources.columns.text.forEach((text, i) => { this.#sources[sources.first + i] = text; });
    const skip = knownOf(activities.first, activities.n, this.#next);
    if (skip < activities.n) {
      this.#appendRows(activities, skip);
    }
    this.#drop(state.columns.nActivitiesDropped[0] ?? 0);
    this.#version += Number(activities.n + sources.n > 0);
  }

  /** The `i`-th activity of a lane. */
  detail(laneId: number, i: number): ActivityDetail | null {
    const lane = this.#lanes[laneId];
    if (lane === undefined || i < 0 || i >= lane.n) {
      return null;
    }
    const place = (lane.row[i] as number) - this.#first;
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
  sums(window: RunWindow): ActivitySum[] {
    const runs = [...this.#sums].filter(([run]) => inWindow(run, window)).map(([, sums]) => sums);
    return ACTIVITIES.map((kind, code) => ({
      kind,
      n: runs.reduce((sum, of) => sum + (of.n[code] as number), 0),
      seconds: runs.reduce((sum, of) => sum + (of.seconds[code] as number), 0),
      nbytes: runs.reduce((sum, of) => sum + (of.nbytes[code] as number), 0)
    })).filter(({ n }) => n > 0);
  }

  #appendRows({ first, n: count, columns }: Section<'activities'>, skip: number): void {
    const { activity: kind } = columns;
    if (this.n === 0) {
      this.#missing += first + skip - this.#next;
      this.#first = this.#next = first + skip;
    } else if (first > this.#next) {
      this.#missing += first - this.#next;
    }
    const last = first + count;
    const rows = this.#rows;
    rows.reserve(last - this.#first);
    rows.n = last - this.#first;
    const touched = new Set<LaneTasks>();
    for (let i = skip; i < count; i += 1) {
      const place = first + i - this.#first;
      const [run, code] = [columns.run[i] as number, kind[i] as number];
      const [startS, durationS] = [columns.startS[i] as number, columns.durationS[i] as number];
      rows.source[place] = columns.source[i] as number;
      rows.nbytes[place] = columns.nbytes[i] as number;
      rows.kind[place] = code;
      rows.run[place] = run;
      const lane = (this.#lanes[columns.lane[i] as number] ??= new LaneTasks());
      touched.add(lane);
      lane.push(startS, startS + durationS, columns.group[i] as number, code, 0, run, first + i);
      const { n, seconds, nbytes } = this.#sumsOf(run);
      n[code] = (n[code] as number) + 1;
      seconds[code] = (seconds[code] as number) + durationS;
      nbytes[code] = (nbytes[code] as number) + (Number.isNaN(columns.nbytes[i]) ? 0 : (columns.nbytes[i] as number));
    }
    touched.forEach(lane => { lane.settle(); });
    this.#next = last;
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

  #drop(dropped: number): void {
    const gone = Math.min(dropped, this.#next) - this.#first;
    if (gone < SLACK) {
      return;
    }
    this.#missing += gone;
    this.#rows.dropFirst(gone);
    this.#first += gone;
    for (const lane of this.#lanes) {
      lane?.drop(this.#first);
    }
  }
}
