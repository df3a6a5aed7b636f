/** What tasks of a file need and what needs them, from the graphs in it. */
import type { LinkRow, LinkRows } from '../wire';
import { MAX_LINKS, TEXT_KEY, tupleKey } from '../wire';
import { isEnded } from './batch';
import type { FileRecording, Graph } from './recording';
import { rowsWith } from './rows';

/** Return what tells the neighbours of a row of the recording's message. */
export function linksOf(recording: FileRecording): (row: number) => LinkRows | null {
  const { block, row } = rowsWith(recording, isEnded);
  const placeOf = (number: number): { run: number; task: number } | null => {
    const found = recording.blocks[block[number] ?? -1];
    return found === undefined ? null : { run: found.run, task: found.task[row[number] ?? -1] ?? -1 };
  };
  const rowOfTask = new Map<number, Int32Array>();
  block.forEach((_, number) => {
    const { run, task } = placeOf(number) ?? { run: -1, task: -1 };
    const rows = rowOfTask.get(run) ?? new Int32Array(recording.graphs.get(run)?.group.length ?? 0).fill(-1);
    rows[task] = number;
    rowOfTask.set(run, rows);
  });
  return number => {
    const place = placeOf(number);
    const graph = place && recording.graphs.get(place.run);
    if (place === null || graph === undefined || !graph?.isKnown) {
      return null;
    }
    const { dependencies, dependents } = neighbours(graph, place.task);
    const end = (task: number): LinkRow => {
      const at = rowOfTask.get(place.run)?.[task] ?? -1;
      return { row: at < 0 ? null : at, key: keyText(recording, graph, task) };
    };
    return {
      dependencies: dependencies.slice(0, MAX_LINKS).map(end),
      nDependencies: dependencies.length,
      dependents: dependents.slice(0, MAX_LINKS).map(end),
      nDependents: dependents.length
    };
  };
}

function neighbours({ nDependencies, edges }: Graph, task: number): { dependencies: number[]; dependents: number[] } {
  const dependencies: number[] = [];
  const dependents: number[] = [];
  let edge = 0;
  nDependencies.forEach((n: number, source: number) => {
    for (const end = edge + n; edge < end; edge += 1) {
      if (source === task) {
        dependencies.push(edges[edge] as number);
      } else if (edges[edge] === task) {
        dependents.push(source);
      }
    }
  });
  return { dependencies: dependencies.sort((a, b) => a - b), dependents };
}

function keyText({ groups }: FileRecording, graph: Graph, task: number): string {
  const keys = graph.keys.take([task]).columns();
  return keys.dims[0] === TEXT_KEY
    ? new TextDecoder().decode(keys.text)
    : tupleKey(groups[graph.group[task] ?? -1]?.name ?? '?', [...keys.ints]);
}
