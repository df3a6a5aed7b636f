/** The tasks of one recorder that ended: by row in order of arrival, and by lane in order of start. */
import type { PageTables, TaskStatus } from '../../wire';
import { STATUSES } from '../../wire';
import { columnTable } from '../columns';
import type { RunRange, Tables } from '../tables';
import type { FailureKind } from './failures';
import { Failures } from './failures';
import { KeyTable } from './key-table';
import type { Taken } from './lane-rows';
import { LaneRows } from './lane-rows';
import { SCHEDULER_BIT, STATUS_BITS } from './lane-tasks';

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

const RowTable = columnTable({
  // To one part in 16 million, which is more than is ever shown; NaN: unknown.
  cpuS: Float32Array,
  nbytes: Float32Array
});

export class TaskTable extends LaneRows {
  readonly #rows = new RowTable();
  readonly #keys = new KeyTable();
  readonly #failures = new Failures();

  constructor(private readonly tables: Tables) {
    super();
  }

  /**
   * Take the rows that are not here yet; returns their number.
   *
   * @param dropped how many rows the recorder no longer holds
   */
  append(tables: Pick<PageTables, 'tasks' | 'errors'>, dropped: number): number {
    const { n, columns: tasks } = tables.tasks;
    const { run, lane: lanes, group: groups, status, observedBy, durationS, stopS: stopsS } = tasks;
    const taken = this.take(n === 0 ? dropped : tables.tasks.first, n, lanes, (lane, i, row) => {
      const [group, stopS] = [groups[i] as number, stopsS[i] as number];
      const flags = (status[i] as number) | (observedBy[i] === 1 ? SCHEDULER_BIT : 0);
      lane.push(stopS - (durationS[i] as number), stopS, group, this.tables.prefixOfGroup(group) ?? 0, flags, run[i] as number, row);
    });
    this.#keys.append(tasks, taken.skip);
    this.#rows.add({ cpuS: tasks.cpuS, nbytes: tasks.nbytes }, taken.skip, n);
    this.#noteFailures(tables, taken);
    return n - taken.skip;
  }

  protected dropped(row: number, count: number): void {
    this.#rows.dropFirst(count);
    this.#keys.drop(row);
    this.#failures.drop(row);
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
    const lane = this.lane(laneId);
    if (lane === undefined || i < 0 || i >= lane.n) {
      return null;
    }
    const row = lane.row[i] ?? 0;
    const group = lane.group[i] ?? 0;
    const flags = lane.flags[i] ?? 0;
    const known = (column: Float32Array): number | null => {
      const value = column[row - this.firstRow] ?? NaN;
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

  /** Which tasks of these computes but some did not finish and why, by first appearance. */
  failures(runRange: RunRange, except?: ReadonlySet<number>): FailureKind[] {
    return this.#failures.in(runRange, except);
  }

  /** Forget why tasks of a compute did not finish. */
  dropFailures(run: number): void {
    this.#failures.dropRun(run);
  }

  /** Row `i` of the batch is row `base + i` here; the first `skip` are known already. */
  #noteFailures({ tasks: { n, columns: tasks }, errors }: Pick<PageTables, 'tasks' | 'errors'>, { skip, base }: Taken): void {
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
}
