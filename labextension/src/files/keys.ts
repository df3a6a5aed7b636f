/** The keys of all graphs of a file: what is known of each, what it needs, and how far tasks came. Keys are numbered by their row. */
import type { LinkRow, LinkRows, PrefixProgress } from '../wire';
import { MAX_LINKS, TEXT_KEY, tupleKey } from '../wire';
import type { Columns, Numbers, Row, Sections } from '../wire/codec';
import { rowsOf } from '../wire/codec';
import type { FileSchema } from './read';
import { demand } from './read';
import { CHOICES } from './tables';

/** How a task ended or, in a snapshot of a compute that went on, did not. */
const [FINISHED, ERRED, INTERRUPTED, LOST, RUNNING] = CHOICES.tasks.status.keys() as Iterable<number> as [number, number, number, number, number];
export { INTERRUPTED, RUNNING };
const NO_ROW = 255;
const MAX_INTS = 8;

/** Tasks that ended, were cut off or run, in the order in which they were written. */
export type TaskColumns = Columns<'tasks', FileSchema>;

export class Keys {
  readonly n: number;
  readonly columns: Columns<'keys', FileSchema>;
  /** The graphs that keys are of, by run. */
  readonly graphs: ReadonlyMap<number, Row<'graphs', FileSchema>>;
  /** The keys of each graph. */
  readonly ofRun: ReadonlyMap<number, Uint32Array>;
  /** Bytes, and what the user's metric gave; NaN: unknown. */
  readonly nbytes: Float64Array;
  readonly values: Float64Array;
  /** When each result came into the scheduler's cache; NaN: never, or nobody knows. */
  readonly enterS: Float64Array;
  /** The runs in which the user has a metric for what is held. */
  readonly valuedRuns: ReadonlySet<number>;
  /** The keys that stay, because they were asked for. */
  readonly kept: Numbers;
  /** Which keys need which. */
  readonly needing: Numbers;
  readonly needed: Numbers;
  readonly #isData: Uint8Array;
  readonly #isSkipped: Uint8Array;

  /** Throws DamagedFileError where the tables contradict each other. */
  constructor(private readonly tables: Sections<FileSchema>, private readonly tasks: TaskColumns) {
    const { keys, graphs, data, landed, valued, skipped, dependencies, kept } = tables;
    const n = (this.n = keys.n);
    const { run, dims, keyText } = (this.columns = keys.columns);
    this.graphs = new Map(rowsOf<'graphs', FileSchema>(graphs).map(row => [row.run, row]));
    this.ofRun = placesOf(run);
    demand([...this.ofRun.keys()].every(each => this.graphs.has(each)), 'a key is of a graph');
    dims.forEach((d: number, key: number) => {
      demand(d === TEXT_KEY || (d >= 0 && d <= MAX_INTS), `a key has at most ${MAX_INTS} integers, or is text`);
      demand(d !== TEXT_KEY || keyText[key] !== null, 'a key that is text has one');
    });
    for (const ints of this.#ints()) {
      demand(ints.every((i: number) => i >= -(2 ** 31) && i < 2 ** 31), 'an integer of a key must be possible');
    }
    this.nbytes = new Float64Array(n).fill(NaN);
    this.values = new Float64Array(n).fill(NaN);
    this.enterS = new Float64Array(n).fill(NaN);
    this.#isData = new Uint8Array(n);
    this.#isSkipped = new Uint8Array(n);
    data.columns.key.forEach((key: number, i: number) => {
      this.#isData[key] = 1;
      this.nbytes[key] = data.columns.nbytes[i] as number;
      this.enterS[key] = this.graphs.get(run[key] as number)?.startS ?? NaN;
    });
    demand(tasks.key.every((key: number) => this.#isData[key] === 0), 'what ran is no data');
    tasks.key.forEach((key: number, i: number) => { this.nbytes[key] = tasks.nbytes[i] as number; });
    landed.columns.key.forEach((key: number, i: number) => { this.enterS[key] = landed.columns.timeS[i] as number; });
    valued.columns.key.forEach((key: number, i: number) => { this.values[key] = valued.columns.value[i] as number; });
    skipped.columns.key.forEach((key: number, i: number) => { this.#isSkipped[key] = skipped.columns.isSkipped[i] as number; });
    this.valuedRuns = new Set([
      ...[...this.graphs.values()].filter(({ isValued }) => isValued === 1).map(graph => graph.run), ...Array.from(valued.columns.key, key => run[key] as number)
    ]);
    this.kept = kept.columns.key;
    [this.needing, this.needed] = [dependencies.columns.key, dependencies.columns.dependency];
    demand(this.needing.every((key: number, i: number) => run[key] === run[this.needed[i] as number]), 'a key needs those of its own graph');
  }

  #ints(): Numbers[] {
    const { i0, i1, i2, i3, i4, i5, i6, i7 } = this.columns;
    return [i0, i1, i2, i3, i4, i5, i6, i7];
  }

  text(key: number): string {
    const { dims, keyText, group } = this.columns;
    const n = dims[key] as number;
    return n === TEXT_KEY
      ? (keyText[key] ?? '')
      : tupleKey(this.tables.groups.columns.name[group[key] as number] ?? '?', this.#ints().slice(0, n).map(ints => ints[key] as number));
  }

  /** What tells what a row needs and what needs it, of rows with these keys; null: its graph is not known, or there is no such row. */
  links(keyOf: Numbers): (row: number) => LinkRows | null {
    const rowOf = new Int32Array(this.n).fill(-1);
    keyOf.forEach((key: number, row: number) => { rowOf[key] = row; });
    const end = (key: number): LinkRow => {
      const row = rowOf[key] as number;
      return { row: row < 0 ? null : row, key: this.text(key) };
    };
    return row => {
      const key = keyOf[row];
      if (key === undefined || this.graphs.get(this.columns.run[key] as number)?.isKnown !== 1) {
        return null;
      }
      const dependencies: number[] = [];
      const dependents: number[] = [];
      this.needing.forEach((other: number, i: number) => {
        if (other === key) {
          dependencies.push(this.needed[i] as number);
        } else if (this.needed[i] === key) {
          dependents.push(other);
        }
      });
      return {
        dependencies: dependencies.sort((a, b) => a - b).slice(0, MAX_LINKS).map(end),
        nDependencies: dependencies.length,
        dependents: dependents.slice(0, MAX_LINKS).map(end),
        nDependents: dependents.length
      };
    };
  }

  /** How far each prefix of each compute came, as a live recorder counts it. */
  progress(): PrefixProgress[] {
    const statuses = this.#statuses();
    return [...this.graphs.values()].flatMap(({ run, isKnown }) => {
      const groups = this.#counts(this.ofRun.get(run) ?? new Uint32Array(), statuses);
      const rows = new Map<string, PrefixProgress>();
      for (const [group, { planned, skipped, nRows, seconds, firstS, are }] of [...groups].sort(([a], [b]) => a - b)) {
        const n = (status: number): number => are[status] ?? 0;
        const nSeen = are.reduce((sum, count) => sum + count, 0);
        const total = isKnown === 1 ? planned - skipped : Math.max(planned - skipped, nSeen);
        if (total + skipped > 0) {
          const prefix = this.tables.groups.columns.prefix[group] ?? '?';
          const before = rows.get(prefix) ?? NOTHING;
          rows.set(prefix, {
            run,
            prefix,
            total: before.total + total,
            finished: before.finished + n(FINISHED),
            erred: before.erred + n(ERRED),
            running: before.running + n(RUNNING),
            interrupted: before.interrupted + n(INTERRUPTED) + n(LOST),
            skipped: before.skipped + skipped,
            again: before.again + nRows - nSeen,
            durationS: (before.durationS ?? 0) + seconds,
            firstS: firstS === null ? before.firstS : Math.min(firstS, before.firstS ?? Infinity),
            scheduledS: null, asked: null, isAll: null, queued: null, waiting: null, noWorker: null
          });
        }
      }
      return [...rows.values()];
    });
  }

  /** What became of each key, when it first began, how often it ended, and how long that took. On a cluster a task may run again: what ended last counts. */
  #statuses(): Fates {
    const found = {
      are: new Uint8Array(this.n).fill(NO_ROW), nRows: new Uint32Array(this.n), seconds: new Float64Array(this.n),
      firstS: new Float64Array(this.n).fill(Infinity)
    };
    const stops = new Float64Array(this.n).fill(-Infinity);
    const { key: keys, stopS, durationS, status } = this.tasks;
    keys.forEach((key: number, i: number) => {
      found.nRows[key] = (found.nRows[key] as number) + 1;
      found.seconds[key] = (found.seconds[key] as number) + (durationS[i] as number);
      found.firstS[key] = Math.min(found.firstS[key] as number, (stopS[i] as number) - (durationS[i] as number));
      if ((stopS[i] as number) >= (stops[key] as number)) {
        stops[key] = stopS[i] as number;
        found.are[key] = status[i] as number;
      }
    });
    return found;
  }

  #counts(keys: Uint32Array, statuses: Fates): Map<number, Counts> {
    const groups = new Map<number, Counts>();
    for (const key of keys) {
      const group = this.columns.group[key] as number;
      let counts = groups.get(group);
      if (counts === undefined) {
        counts = { planned: 0, skipped: 0, nRows: 0, seconds: 0, firstS: null, are: [0, 0, 0, 0, 0] };
        groups.set(group, counts);
      }
      const status = statuses.are[key] as number;
      counts.planned += 1 - (this.#isData[key] as number);
      counts.nRows += statuses.nRows[key] as number;
      counts.seconds += statuses.seconds[key] as number;
      if (status !== NO_ROW) {
        counts.are[status] = (counts.are[status] ?? 0) + 1;
        counts.firstS = Math.min(counts.firstS ?? Infinity, statuses.firstS[key] as number);
      } else {
        counts.skipped += this.#isSkipped[key] as number;
      }
    }
    return groups;
  }
}

/** Of each key. */
interface Fates {
  readonly are: Uint8Array;
  readonly nRows: Uint32Array;
  readonly seconds: Float64Array;
  readonly firstS: Float64Array;
}

interface Counts {
  /** Keys that are no data. */
  planned: number;
  skipped: number;
  nRows: number;
  seconds: number;
  firstS: number | null;
  /** Tasks by what became of them. */
  readonly are: number[];
}

const NOTHING = { total: 0, finished: 0, erred: 0, running: 0, interrupted: 0, skipped: 0, again: 0, durationS: 0, firstS: null };

/** Where each value of a column stands. */
function placesOf(column: Numbers): Map<number, Uint32Array> {
  const counts = new Map<number, number>();
  column.forEach((value: number) => counts.set(value, (counts.get(value) ?? 0) + 1));
  const places = new Map([...counts].map(([value, n]) => [value, { at: 0, rows: new Uint32Array(n) }]));
  column.forEach((value: number, row: number) => {
    const mine = places.get(value);
    if (mine !== undefined) {
      mine.rows[mine.at] = row;
      mine.at += 1;
    }
  });
  return new Map([...places].map(([value, { rows }]) => [value, rows]));
}
