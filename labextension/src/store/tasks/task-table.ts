/** The tasks of one recorder that ended: by row in order of arrival, and by lane in order of start. */
import type { PageTables, TaskStatus } from '../../wire';
import { STATUSES } from '../../wire';
import { columnTable, knownOf } from '../columns';
import type { RunWindow, Tables } from '../tables';
import type { FailureKind } from './failures';
import { Failures } from './failures';
import { KeyTable } from './key-table';
import { LaneTasks, SCHEDULER_BIT, STATUS_BITS } from './lane-tasks';
import type { TaskRef } from './selection';

/** All there is to say about one ended task. */
export interface TaskDetail {
  readonly key: string;
  readonly group: string;
  readonly prefix: string;
  readonly run: number;
  readonly startS: number;
  readonly stopS: number;
  /** Null: unknown, and so is the size. */
  readonly cpuS: number | null;
  readonly sizeBytes: number | null;
  readonly status: TaskStatus;
  readonly observedBy: 'worker' | 'scheduler';
  /** What it raised, type and message; null: nothing, or nobody knows. */
  readonly error: string | null;
}

/** As many tasks more may be held before old ones go. */
const SLACK = 65_536;

const RowTable = columnTable({
  // To one part in 16 million, which is more than is ever shown; NaN: unknown.
  cpuS: Float32Array,
  nbytes: Float32Array
});

export class TaskTable {
  /** What is kept by row; the first one that is held is row `#firstRow`. */
  readonly #rows = new RowTable();
  readonly #keys = new KeyTable();
  #firstRow = 0;
  #lanes: (LaneTasks | undefined)[] = [];
  #failures = new Failures();
  #numbers = new RowNumbers();
  #nextNumber = 0;
  #neverCame = 0;

  constructor(private readonly tables: Tables) {}

  /** Rows held. */
  get n(): number {
    return this.#rows.n;
  }
  /** The recorder's number of the next row to come. */
  get nextNumber(): number {
    return this.#nextNumber;
  }
  /** Rows before the next one that are not here: dropped before they came, or since. */
  get missing(): number {
    return this.#neverCame + this.#firstRow;
  }
  /** Lanes that tasks ended in, by id. */
  get laneIds(): number[] {
    return this.#lanes.flatMap((lane, id) => (lane === undefined ? [] : [id]));
  }

  lane(id: number): LaneTasks | undefined {
    return this.#lanes[id];
  }

  /**
   * Take the rows that are not here yet; returns their number.
   *
   * @param dropped how many rows the recorder no longer holds
   */
  append(tables: Pick<PageTables, 'tasks' | 'errors'>, dropped: number): number {
    const { n: count, columns: tasks } = tables.tasks;
    const first = count === 0 ? dropped : tables.tasks.first;
    this.#neverCame += Math.max(first - this.#nextNumber, 0);
    const skip = knownOf(first, count, this.#nextNumber);
    const base = this.#firstRow + this.#rows.n - skip;
    if (skip < count) {
      this.#numbers.begin(base + skip, first + skip);
    }
    this.#keys.append(tasks, skip);
    this.#rows.add({ cpuS: tasks.cpuS, nbytes: tasks.nbytes }, skip, count);
    const { run, lane: lanes, group: groups, status, observedBy, durationS, stopS: stopsS } = tasks;
    const touched = new Set<LaneTasks>();
    for (let i = skip; i < count; i += 1) {
      const lane = this.#laneOf(lanes[i] as number);
      const [group, stopS] = [groups[i] as number, stopsS[i] as number];
      touched.add(lane);
      lane.push(
        stopS - (durationS[i] as number),
        stopS,
        group,
        this.tables.prefixOfGroup(group) ?? 0,
        (status[i] as number) | (observedBy[i] === 1 ? SCHEDULER_BIT : 0),
        run[i] as number,
        base + i
      );
    }
    touched.forEach(lane => {
      lane.settle();
    });
    this.#noteFailures(tables, skip, base);
    this.#nextNumber = Math.max(this.#nextNumber, first + count);
    return count - skip;
  }

  /** Keep what the recorder keeps, and no more than fits; not for each message, because it moves all that stays. */
  dropOld(dropped: number, maxTasks: number): void {
    const first = this.#firstRow;
    const next = first + this.#rows.n;
    const row = Math.min(Math.max(this.#numbers.firstRowFrom(dropped), next - maxTasks, first), next);
    if (row - first < SLACK && (row < next || row === first)) {
      return;
    }
    this.#rows.dropFirst(row - first);
    this.#keys.drop(row);
    this.#firstRow = row;
    this.#failures.drop(row);
    this.#numbers.drop(row);
    for (const lane of this.#lanes) {
      lane?.drop(row);
    }
  }

  keyText(row: number, group: number): string {
    return this.#keys.text(row, this.tables.groups[group]?.name ?? '?');
  }

  /** The key of a row where it is text; null: it is a name and integers. */
  textKey(row: number): string | null {
    const parts = this.#keys.isText(row) ? this.#keys.parts(row) : null;
    return typeof parts === 'string' ? parts : null;
  }

  /** The `i`-th task of a lane. */
  detail(laneId: number, i: number): TaskDetail | null {
    const lane = this.#lanes[laneId];
    if (lane === undefined || i < 0 || i >= lane.n) {
      return null;
    }
    const row = lane.row[i] ?? 0;
    const group = lane.group[i] ?? 0;
    const flags = lane.flags[i] ?? 0;
    const known = (column: Float32Array): number | null => {
      const value = column[row - this.#firstRow] ?? NaN;
      return Number.isNaN(value) ? null : value;
    };
    return {
      key: this.keyText(row, group),
      group: this.tables.groups[group]?.name ?? '?',
      prefix: this.tables.groups[group]?.prefix ?? '?',
      run: lane.run[i] ?? 0,
      startS: lane.startS[i] ?? 0,
      stopS: lane.stopS[i] ?? 0,
      cpuS: known(this.#rows.cpuS),
      sizeBytes: known(this.#rows.nbytes),
      status: STATUSES[flags & STATUS_BITS] ?? 'finished',
      observedBy: (flags & SCHEDULER_BIT) === 0 ? 'worker' : 'scheduler',
      error: this.#failures.error(row)
    };
  }

  numberOf(row: number): number {
    return this.#numbers.numberOf(row);
  }

  /** Where the tasks with these numbers of the recorder are, as far as they are here. */
  placesOf(numbers: readonly number[]): ReadonlyMap<number, TaskRef> {
    return placesOf(numbers, this.#numbers, this.#lanes);
  }

  /** Which tasks of these computes but some did not finish and why, by first appearance. */
  failures(window: RunWindow, except?: ReadonlySet<number>): FailureKind[] {
    return this.#failures.in(window, except);
  }

  /** Forget why tasks of a compute did not finish. */
  dropFailures(run: number): void {
    this.#failures.dropRun(run);
  }

  /** Row `i` of the batch is row `base + i` here; the first `skip` are known already. */
  #noteFailures({ tasks: { n, columns: tasks }, errors }: Pick<PageTables, 'tasks' | 'errors'>, skip: number, base: number): void {
    const texts = errors.columns.text;
    for (let i = skip; i < n; i += 1) {
      const status = tasks.status[i] === 0 ? 'finished' : STATUSES[tasks.status[i] as number];
      if (status === undefined || status === 'finished') {
        continue;
      }
      const [row, group] = [base + i, tasks.group[i] as number];
      const prefix = this.tables.groups[group]?.prefix ?? '?';
      const error = texts[tasks.error[i] as number] ?? null;
      this.#failures.add(tasks.run[i] as number, { prefix, status, error }, row, () => ({
        row, lane: tasks.lane[i] as number, startS: (tasks.stopS[i] as number) - (tasks.durationS[i] as number), key: this.keyText(row, group)
      }));
    }
  }

  #laneOf(id: number): LaneTasks {
    return (this.#lanes[id] ??= new LaneTasks());
  }
}

interface Stretch {
  /** First row here, and its number there. */
  readonly row: number;
  readonly number: number;
}

export class RowNumbers {
  #stretches: Stretch[] = [];

  /** Row `row` is number `number`, and so on from there. */
  begin(row: number, number: number): void {
    const last = this.#stretches.at(-1);
    if (last === undefined || last.number - last.row !== number - row) {
      this.#stretches.push({ row, number });
    }
  }

  numberOf(row: number): number {
    const stretch = this.#stretches.findLast(candidate => candidate.row <= row);
    return stretch === undefined ? row : stretch.number + row - stretch.row;
  }

  /** The first row whose number is `number` or more, if it came or is the next to come. */
  firstRowFrom(number: number): number {
    const i = this.#stretches.findLastIndex(candidate => candidate.number <= number);
    const stretch = this.#stretches[i];
    const next = this.#stretches[i + 1]?.row ?? Infinity;
    return stretch === undefined ? 0 : Math.min(stretch.row + number - stretch.number, next);
  }

  /** Forget rows before `row`. */
  drop(row: number): void {
    const i = this.#stretches.findLastIndex(candidate => candidate.row <= row);
    this.#stretches.splice(0, i);
  }

  /** The row with a number, if it came; rows beyond the last are not told apart from those to come. */
  rowOf(number: number): number | null {
    const i = this.#stretches.findLastIndex(candidate => candidate.number <= number);
    const stretch = this.#stretches[i];
    if (stretch === undefined) {
      return null;
    }
    const row = stretch.row + number - stretch.number;
    return row < (this.#stretches[i + 1]?.row ?? Infinity) ? row : null;
  }
}

/** The places of those that are here, by number. */
export function placesOf(
  numbers: readonly number[],
  known: RowNumbers,
  lanes: readonly (LaneTasks | undefined)[]
): Map<number, TaskRef> {
  const byRow = new Map(numbers.flatMap(number => {
    const row = known.rowOf(number);
    return row === null ? [] : [[row, number] as const];
  }));
  const places = new Map<number, TaskRef>();
  lanes.forEach((lane, id) => {
    for (let i = 0; lane !== undefined && i < lane.n && places.size < byRow.size; i += 1) {
      const row = lane.row[i] as number;
      const number = byRow.get(row);
      if (number !== undefined) {
        places.set(number, { lane: id, row, startS: lane.startS[i] as number });
      }
    }
  });
  return places;
}
