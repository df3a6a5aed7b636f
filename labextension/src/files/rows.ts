/** All tasks of a recording as one set of columns, as the wire has them. */
import type { TaskColumns } from '../wire';
import { UNKNOWN_CODE } from '../wire';
import { KeyBlock, shortened } from './keys';
import type { FileRecording } from './recording';
import { SCHEDULER_OBSERVED } from './recording';
import { UNKNOWN_U4 } from './schema';

const LAST_ID = 65_535;

/** Which rows of the file there are; columns of equal length, in the order in which tasks were recorded. */
export interface RowNumbers {
  /** Place of the block, and of the row within it. */
  readonly block: Uint32Array;
  readonly row: Uint32Array;
}

export interface Rows {
  readonly tasks: TaskColumns;
  readonly errors: readonly string[];
}

/** The rows of a file for which `isOf` holds, by their status. */
export function rowsWith(recording: FileRecording, isOf: (status: number) => boolean): RowNumbers {
  const most = recording.blocks.reduce((n, { flags }) => n + flags.length, 0);
  const found = { block: new Uint32Array(most), row: new Uint32Array(most) };
  let n = 0;
  recording.blocks.forEach(({ flags }, block) => {
    flags.forEach((flag, row) => {
      if (isOf(flag % SCHEDULER_OBSERVED)) {
        found.block[n] = block;
        found.row[n] = row;
        n += 1;
      }
    });
  });
  return { block: found.block.subarray(0, n), row: found.row.subarray(0, n) };
}

/** The keys of rows. */
export function keysOf(recording: FileRecording, { block, row }: RowNumbers): KeyBlock {
  const parts: KeyBlock[] = [];
  let first = 0;
  while (first < block.length) {
    const place = block[first] as number;
    let end = first;
    while (end < block.length && block[end] === place) {
      end += 1;
    }
    const { run, task } = recording.blocks[place] ?? { run: -1, task: new Int32Array() };
    const tasks = Int32Array.from(row.subarray(first, end), i => task[i] as number);
    parts.push((recording.graphs.get(run)?.keys ?? KeyBlock.concat([])).take(tasks));
    first = end;
  }
  return KeyBlock.concat(parts);
}

/** Columns of rows; `groupOf` and `laneOf` give the numbers that groups and lanes have there. */
export function taskColumns(
  recording: FileRecording, numbers: RowNumbers, groupOf: (group: number) => number, laneOf: (lane: number) => number
): Rows {
  const n = numbers.block.length;
  const columns = {
    run: new Int32Array(n),
    lane: new Uint16Array(n),
    group: new Uint16Array(n),
    status: new Uint8Array(n),
    scheduler: new Uint8Array(n),
    startS: new Float64Array(n),
    stopS: new Float64Array(n),
    cpuS: new Float64Array(n),
    nbytes: new Float64Array(n)
  };
  const errors = new Map<string, number>();
  const codes: number[] = [];
  for (let i = 0; i < n; i += 1) {
    const block = recording.blocks[numbers.block[i] as number];
    const graph = block && recording.graphs.get(block.run);
    if (block === undefined || graph === undefined) {
      continue;
    }
    const row = numbers.row[i] as number;
    const task = block.task[row] as number;
    const flags = block.flags[row] as number;
    const startS = (block.start[row] as number) - recording.zeroS;
    const duration = block.duration[row] as number;
    columns.run[i] = block.run;
    columns.lane[i] = laneOf(block.lane[row] as number);
    columns.group[i] = Math.min(groupOf(graph.group[task] as number), LAST_ID);
    columns.status[i] = flags % SCHEDULER_OBSERVED;
    columns.scheduler[i] = flags < SCHEDULER_OBSERVED ? 0 : 1;
    columns.startS[i] = startS;
    columns.stopS[i] = startS + duration;
    columns.cpuS[i] = Math.min(block.cpu[row] as number, duration);
    const size = block.size[row] as number;
    columns.nbytes[i] = block.size instanceof Uint32Array && size === UNKNOWN_U4 ? NaN : size;
    if (columns.status[i] !== 0) {
      codes.push(errorCode(errors, graph.errors.get(task)));
    }
  }
  const keys = keysOf(recording, numbers).columns();
  return { tasks: { ...columns, keys, error: Uint16Array.from(codes) }, errors: [...errors.keys()] };
}

const MAX_ERRORS = 1_000;

/** The place of an error's text, which is added where it is new. */
function errorCode(errors: Map<string, number>, error: string | undefined): number {
  if (error === undefined) {
    return UNKNOWN_CODE;
  }
  const text = shortened(error);
  const shown = errors.has(text) || errors.size < MAX_ERRORS ? text : `(more than ${MAX_ERRORS.toLocaleString('en')} different errors)`;
  const place = errors.get(shown) ?? errors.size;
  errors.set(shown, place);
  return place;
}
