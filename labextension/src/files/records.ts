/** The small tables of a file: rows of JSON, each field of a type that it may have. */
import type { Field, Group, Lane, Remark, Run } from '../wire';
import { RUN_STATUSES } from '../wire';
import { demand } from './errors';
import { inFile } from './pack';
import type { FileWorkerSample } from './recording';

/** Beyond this, numbers of seconds no longer fit into what is computed of them; 300 years of uptime do. */
export const MAX_S = 1e10;
const MAX_WHOLE = 2 ** 31 - 1;

export interface TaskError {
  readonly run: number;
  readonly task: number;
  readonly text: string;
}

/** The small tables, in the order in which their rows came. */
export class Records {
  readonly runs = new Map<number, Run>();
  readonly groups: Group[] = [];
  readonly lanes: Lane[] = [];
  readonly errors: TaskError[] = [];
  readonly sources: string[] = [];
  readonly workers: FileWorkerSample[] = [];
  remarks: Remark[] = [];
  readonly #nRows = new Map<string, number>();

  /** How many rows of a table came, also of one that nobody looks at here. */
  nRows(table: string): number {
    return this.#nRows.get(table) ?? 0;
  }

  /** Take the rows of a frame. Of a run the last row counts, of messages the last frame. */
  add(content: Field): void {
    inFile(() => {
      const table = content.at('table').text();
      const rows = content.at('rows').list();
      this.#nRows.set(table, this.nRows(table) + rows.length);
      switch (table) {
        case 'runs':
          rows.map(runOf).forEach(run => this.runs.set(run.run, run));
          break;
        case 'groups':
          this.groups.push(...rows.map(groupOf));
          break;
        case 'lanes':
          this.lanes.push(...rows.map(laneOf));
          break;
        case 'messages':
          this.remarks = rows.map(remarkOf);
          break;
        case 'errors':
          this.errors.push(...rows.map(errorOf));
          break;
        case 'activity_sources':
          this.sources.push(...rows.map(row => row.at('name').text()));
          break;
        case 'workers':
          rows.forEach(row => this.workers.push(workerSampleOf(row)));
          break;
        default:
          // Of what nobody looks at here, such as totals and call stacks.
          break;
      }
    });
  }
}

function groupOf(row: Field): Group {
  return { id: row.at('id').count(), name: row.at('name').text(), prefix: row.at('prefix').text() };
}

function laneOf(row: Field): Lane {
  return { id: row.at('id').count(), worker: row.at('worker').text(), thread: row.at('thread').number(), label: row.at('label').text() };
}

function errorOf(row: Field): TaskError {
  return { run: row.at('run').count(), task: row.at('task').count(), text: row.at('text').text() };
}

function remarkOf(row: Field): Remark {
  return { timeS: timeOf(row.at('time_s')), level: row.at('level').oneOf(['info', 'warning']), text: row.at('text').text() };
}

function runOf(row: Field): Run {
  const text = (f: Field): string => f.text();
  return {
    run: row.at('run').count(MAX_WHOLE),
    label: row.at('label').orNull(text),
    cell: row.at('cell').orNull(text),
    // The first files did not have it.
    executionCount: row.at('execution_count').value === undefined ? null : row.at('execution_count').orNull(f => f.count()),
    sourceCrc: null,
    scheduler: row.at('scheduler').orNull(text),
    nWorkers: row.at('n_workers').orNull(f => f.count(MAX_WHOLE)),
    nTasks: row.at('n_tasks').count(),
    startS: timeOf(row.at('start_s')),
    stopS: row.at('stop_s').orNull(timeOf),
    status: row.at('status').oneOf(RUN_STATUSES),
    error: row.at('error').orNull(text)
  };
}

/** A time that is possible. */
export function timeOf(field: Field): number {
  const seconds = field.number();
  demand(Math.abs(seconds) < MAX_S, 'a time must be possible');
  return seconds;
}

/** A row of the table `workers`. */
function workerSampleOf(row: Field): FileWorkerSample {
  const number = (name: string): number => row.at(name).orNull(f => f.number()) ?? NaN;
  return {
    timeS: timeOf(row.at('time_s')),
    worker: row.at('worker').text(),
    name: row.at('name').text(),
    nThreads: row.at('n_threads').count(2 ** 31 - 1),
    nExecuting: number('n_executing'),
    cpuPercent: number('cpu_percent'),
    rssBytes: number('rss_bytes'),
    managedBytes: number('managed_bytes'),
    spilledBytes: number('spilled_bytes'),
    limitBytes: number('limit_bytes')
  };
}
