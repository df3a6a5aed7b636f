/** The tasks of one recorder that ended: by row in order of arrival, and by lane in order of start. */
import type { Batch, TaskStatus } from '../wire';
import { STATUSES, UNKNOWN_CODE } from '../wire';
import type { FailureKind } from './failures';
import { Failures } from './failures';
import { LaneTasks, SCHEDULER_BIT, STATUS_BITS } from './lane-tasks';
import { placesOf } from './places';
import { RowColumns } from './row-columns';
import { RowNumbers } from './row-numbers';
import type { TaskRef } from './selection';
import type { RunWindow, Tables } from './tables';

/** All there is to say about one ended task. */
export interface TaskDetail {
  readonly key: string;
  readonly group: string;
  readonly prefix: string;
  readonly run: number;
  readonly startS: number;
  readonly stopS: number;
  /** CPU seconds per second of duration; null: unknown. */
  readonly cpuShare: number | null;
  readonly sizeBytes: number | null;
  readonly status: TaskStatus;
  readonly observedBy: 'worker' | 'scheduler';
  /** What it raised, type and message; null: nothing, or nobody knows. */
  readonly error: string | null;
}

/** As many tasks more may be held before old ones go. */
const SLACK = 65_536;

export class TaskTable {
  #lanes: (LaneTasks | undefined)[] = [];
  #rows = new RowColumns();
  #failures = new Failures();
  #numbers = new RowNumbers();
  #nextNumber = 0;
  #neverCame = 0;

  constructor(private readonly tables: Tables) {}

  /** Rows held. */
  get n(): number {
    return this.#rows.next - this.#rows.first;
  }
  /** The recorder's number of the next row to come. */
  get nextNumber(): number {
    return this.#nextNumber;
  }
  /** Rows before the next one that are not here: dropped before they came, or since. */
  get missing(): number {
    return this.#neverCame + this.#rows.first;
  }
  /** Lanes that tasks ended in, by id. */
  get laneIds(): number[] {
    return this.#lanes.flatMap((lane, id) => (lane === undefined ? [] : [id]));
  }

  lane(id: number): LaneTasks | undefined {
    return this.#lanes[id];
  }

  /** Take over the rows that are not here yet; returns how many those are. */
  append(batch: Batch): number {
    const { tasks, first, count } = batch;
    this.#neverCame += Math.max(first - this.#nextNumber, 0);
    const skip = Math.min(Math.max(this.#nextNumber - first, 0), count);
    const base = this.#rows.next - skip;
    if (skip < count) {
      this.#numbers.begin(base + skip, first + skip);
    }
    this.#rows.append(tasks, skip);
    const touched = new Set<LaneTasks>();
    for (let i = skip; i < count; i += 1) {
      const lane = this.#laneOf(tasks.lane[i] ?? 0);
      const group = tasks.group[i] ?? 0;
      touched.add(lane);
      lane.push(
        tasks.startS[i] ?? 0,
        tasks.stopS[i] ?? 0,
        group,
        this.tables.prefixOfGroup(group) ?? 0,
        (tasks.status[i] ?? 0) | (tasks.scheduler[i] === 1 ? SCHEDULER_BIT : 0),
        tasks.run[i] ?? 0,
        base + i
      );
    }
    touched.forEach(lane => {
      lane.settle();
    });
    this.#noteFailures(batch, skip, base);
    this.#nextNumber = Math.max(this.#nextNumber, first + count);
    return count - skip;
  }

  /** Keep what the recorder keeps, and no more than fits; not for each message, because it moves all that stays. */
  dropOld(dropped: number, maxTasks: number): void {
    const { first, next } = this.#rows;
    const row = Math.min(Math.max(this.#numbers.firstRowFrom(dropped), next - maxTasks, first), next);
    if (row - first < SLACK && (row < next || row === first)) {
      return;
    }
    this.#rows.drop(row);
    this.#failures.drop(row);
    this.#numbers.drop(row);
    for (const lane of this.#lanes) {
      lane?.drop(row);
    }
  }

  keyText(row: number, group: number): string {
    return this.#rows.keys.text(row, this.tables.groups[group]?.name ?? '?');
  }

  /** The key of a row where it is text; null: it is a name and integers. */
  textKey(row: number): string | null {
    const parts = this.#rows.keys.isText(row) ? this.#rows.keys.parts(row) : null;
    return typeof parts === 'string' ? parts : null;
  }

  /** The same in UTF-8. */
  textKeyBytes(row: number): Uint8Array | null {
    return this.#rows.keys.bytes(row);
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
    return {
      key: this.keyText(row, group),
      group: this.tables.groups[group]?.name ?? '?',
      prefix: this.tables.groups[group]?.prefix ?? '?',
      run: lane.run[i] ?? 0,
      startS: lane.startS[i] ?? 0,
      stopS: lane.stopS[i] ?? 0,
      cpuShare: this.#rows.cpuShare(row),
      sizeBytes: this.#rows.sizeBytes(row),
      status: STATUSES[flags & STATUS_BITS] ?? 'finished',
      observedBy: (flags & SCHEDULER_BIT) === 0 ? 'worker' : 'scheduler',
      error: this.#failures.error(row)
    };
  }

  /** The recorder's number of a row. */
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
  #noteFailures({ tasks, errors, count }: Batch, skip: number, base: number): void {
    let nFailed = 0;
    for (let i = 0; i < count; i += 1) {
      const status = STATUSES[tasks.status[i] ?? 0];
      if (status === undefined || status === 'finished') {
        continue;
      }
      const error = errors[tasks.error[nFailed] ?? UNKNOWN_CODE] ?? null;
      nFailed += 1;
      if (i >= skip) {
        const [row, group] = [base + i, tasks.group[i] ?? 0];
        const prefix = this.tables.groups[group]?.prefix ?? '?';
        this.#failures.add(tasks.run[i] ?? 0, { prefix, status, error }, row, () => ({
          row, lane: tasks.lane[i] ?? 0, startS: tasks.startS[i] ?? 0, key: this.keyText(row, group)
        }));
      }
    }
  }

  #laneOf(id: number): LaneTasks {
    return (this.#lanes[id] ??= new LaneTasks());
  }
}
