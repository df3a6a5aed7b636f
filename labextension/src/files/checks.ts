/** What a file says, held against itself, as `taskscope/export/checks.py` does: what is read holds no surprises. */
import { demand } from './errors';
import type { FileRecording, Graph, RowBlock, Samples } from './recording';
import { SCHEDULER_OBSERVED, STATUSES } from './recording';
import { MAX_S } from './records';

const MAX_PROCESSES = 2 ** 53;

/** Throws DamagedFileError unless groups, lanes, runs and tasks that are referred to are there. */
export function checkRecording(recording: FileRecording): void {
  const { runs, groups, lanes, blocks, graphs } = recording;
  demand([recording.zeroS, recording.nowS].every(timeS => Math.abs(timeS) < MAX_S), 'a time must be possible');
  demand(groups.every(({ id }, i) => id === i), 'groups must be numbered by place');
  demand(lanes.every(({ id }, i) => id === i), 'lanes must be numbered by place');
  const known = new Set(runs.map(({ run }) => run));
  demand([...graphs.keys()].every(run => known.has(run)), 'a graph belongs to a run');
  checkSamples(recording.samples);
  graphs.forEach(graph => {
    checkGraph(graph, groups.length);
  });
  for (const block of blocks) {
    checkRows(block, graphs.get(block.run)?.group.length ?? 0, lanes.length);
  }
}

function checkSamples({ time, rssBytes, nProcesses, gap }: Samples): void {
  const isCount = (n: number): boolean => Math.abs(n) < MAX_PROCESSES;
  demand(nProcesses.every(isCount) && gap.every(isCount), 'the number of processes must be possible');
  demand(time.every(Number.isFinite) && rssBytes.every(Number.isFinite), 'a sample has a time and a size');
}

function checkGraph(graph: Graph, nGroups: number): void {
  const n = graph.group.length;
  graph.keys.check();
  const lengths = [graph.keys.length, graph.nDependencies.length, graph.enter.length, graph.values?.length ?? n];
  demand(lengths.every(length => length === n), 'columns of a graph must be equally long');
  demand(isBelow(graph.group, nGroups), 'a group must be known');
  let nEdges = 0;
  graph.nDependencies.forEach((count: number) => (nEdges += count));
  demand(nEdges === graph.edges.length, 'dependencies must add up');
  demand([graph.edges, graph.kept, graph.data, graph.spared].every(keys => isBelow(keys, n)), 'a key must be in its graph');
  demand(graph.data.length === graph.dataSizes.length, 'data must have sizes');
  demand([...graph.errors.keys()].every(task => task < n), 'an error must be of a task');
}

function checkRows(block: RowBlock, nKeys: number, nLanes: number): void {
  const { task, start, duration, lane, flags } = block;
  const columns = [start, duration, block.cpu, block.size, lane, flags];
  demand(columns.every(column => column.length === task.length), 'columns of tasks must be equally long');
  demand(isBelow(task, nKeys), 'a task must be in its graph');
  demand(isBelow(lane, nLanes), 'a lane must be known');
  demand(flags.every(flag => flag < 2 * SCHEDULER_OBSERVED), 'who observed a task must be known');
  demand(flags.every(flag => flag % SCHEDULER_OBSERVED < STATUSES.length), 'a status must be known');
  const isPossible = start.every(timeS => Math.abs(timeS) < MAX_S) && duration.every(s => s >= 0 && s < MAX_S);
  demand(isPossible, 'a time must be possible');
}

function isBelow(numbers: Uint32Array | Int32Array | Uint16Array, limit: number): boolean {
  return numbers.every((n: number) => n >= 0 && n < limit);
}
