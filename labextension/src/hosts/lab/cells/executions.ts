/** What the executions of each cell computed. */
import type { RunRange, TaskStore } from '../../../store';
import { countRuns } from '../../../store/runs';
import type { Run, RunStatus } from '../../../wire';

export interface Execution {
  /** The `n` of `In [n]`; null: unknown. */
  readonly executionCount: number | null;
  /** CRC-32 of the source that ran; null: unknown. */
  readonly sourceCrc: number | null;
  /** Running while any compute runs; after that the worst end of all. */
  readonly status: RunStatus;
  /** The numbers of its computes, in order; there is at least one. */
  readonly runs: readonly number[];
  /** How many computes these are: the oldest of very many are added up in one. */
  readonly nRuns: number;
  readonly nTasks: number;
}

/** What a badge says. */
export interface Mark {
  readonly execution: Execution;
  /** Null: the kernel that it ran in is gone, and nothing but what was last said of it is known. */
  readonly store: TaskStore | null;
  /** That other programs used the cores while it ran, in a sentence; null: they did not, or it is not known. */
  readonly busy: string | null;
  /** Whether the cell's charts are unfolded; null: the cell has charts of its own, to which the badge leads. */
  readonly isOpen: boolean | null;
}

/** What the page knows of a code cell. */
export interface CellFacts {
  /** The number of its prompt; null while it runs, and once it was cleared. */
  readonly executionCount: number | null;
  /** CRC-32 of its source now. */
  readonly sourceCrc: number;
  readonly isRunning: boolean;
  /** Prompt numbers up to this one belong to executions before the one that runs. */
  readonly floor: number;
  /** The prompt number of the execution that was seen computing, perhaps since before the page was loaded. */
  readonly witnessed: number | null;
}

const WORST_FIRST = ['running', 'interrupted', 'erred', 'finished'] as const;

/** The executions of each cell in their order, by the cell's id: another page of the notebook may show an earlier one. */
export function executionsByCell(runs: Iterable<Run>): Map<string, Execution[]> {
  const byCell = new Map<string, Run[][]>();
  for (const run of [...runs].sort((a, b) => a.run - b.run)) {
    if (run.cell !== null) {
      const executions = byCell.get(run.cell) ?? [];
      const same = executions.at(-1);
      if (same?.[0]?.executionCount === run.executionCount) {
        same.push(run);
      } else {
        byCell.set(run.cell, [...executions, [run]]);
      }
    }
  }
  return new Map([...byCell].map(([cell, executions]) => [cell, executions.map(executionOf)]));
}

function executionOf(runs: readonly Run[]): Execution {
  return {
    executionCount: runs[0]?.executionCount ?? null,
    sourceCrc: runs[0]?.sourceCrc ?? null,
    status: WORST_FIRST.find(status => runs.some(run => run.status === status)) ?? 'finished',
    runs: runs.map(({ run }) => run),
    nRuns: countRuns(runs),
    nTasks: runs.reduce((sum, run) => sum + run.nTasks, 0)
  };
}

/** What charts of it show: from its first compute to its last, or to what may still come. */
export function runRangeOf({ runs }: Execution, isOpen: boolean): RunRange {
  return { firstRun: runs[0] ?? 0, lastRun: isOpen ? null : (runs.at(-1) ?? 0) };
}

/** Whether what an execution computed is what its cell shows now. */
export function isCurrent({ executionCount, sourceCrc, status }: Execution, cell: CellFacts): boolean {
  if (status === 'running') {
    return true;
  }
  if (cell.executionCount === null) {
    return executionCount !== null && executionCount > cell.floor && (cell.isRunning || cell.witnessed === executionCount);
  }
  return executionCount === cell.executionCount && (sourceCrc === null || sourceCrc === cell.sourceCrc);
}
