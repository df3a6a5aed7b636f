/** The graph of a run, joined from the pieces that frames have of it. */
import type { Field } from '../wire';
import { demand } from './errors';
import { KeyBlock } from './keys';
import type { Packed } from './pack';
import { inFile, joined } from './pack';
import type { Graph } from './recording';
import { timeOf } from './records';
import type { Column } from './schema';
import { GRAPH, UNKNOWN_U4 } from './schema';

/** Join pieces; null where some are missing. */
export function graphOf(pieces: readonly Packed[], errors: ReadonlyMap<number, string>): Graph | null {
  const head = pieces[0]?.head;
  demand(head !== undefined, 'a graph has a head');
  const columns = new Map<string, Column>();
  for (const name of new Set(pieces.flatMap(piece => [...piece.columns.keys()]))) {
    columns.set(name, joined(pieces.flatMap(piece => piece.columns.get(name) ?? []), new Uint8Array()));
  }
  const needed = Object.keys(GRAPH).filter(name => name !== 'values' && name !== 'spared');
  if (!isComplete(head, columns) || !needed.every(name => columns.has(name))) {
    return null;
  }
  return {
    keys: KeyBlock.of(columns),
    group: columns.get('group') as Uint32Array,
    nDependencies: columns.get('n_dependencies') as Uint8Array | Uint32Array,
    edges: columns.get('edges') as Int32Array,
    enter: columns.get('enter') as Uint32Array | Float64Array,
    enterZero: inFile(() => timeOf(head.at('enter_zero'))),
    kept: columns.get('kept') as Int32Array,
    data: columns.get('data') as Int32Array,
    dataSizes: columns.get('data_sizes') as Float64Array,
    values: (columns.get('values') ?? null) as Float64Array | null,
    spared: (columns.get('spared') ?? new Int32Array()) as Int32Array,
    errors,
    isKnown: head.at('known').value !== false
  };
}

function isComplete(head: Field, columns: ReadonlyMap<string, Column>): boolean {
  const lengths = inFile(() => head.at('lengths').value);
  if (typeof lengths !== 'object' || lengths === null) {
    return false;
  }
  const claimed = Object.entries(lengths);
  return claimed.length === columns.size && claimed.every(([name, n]) => columns.get(name)?.length === n);
}

/** When each key entered the scheduler's cache, in seconds after the recorder's zero; NaN: never. */
export function enterTimes({ enter, enterZero }: Graph): Float64Array {
  return enter instanceof Float64Array
    ? enter
    : Float64Array.from(enter, ticks => (ticks === UNKNOWN_U4 ? NaN : ticks * 1e-6 + enterZero));
}

/**
 * When each key left the scheduler's cache, which is when the last task that needs it had landed; requested
 * keys and those that some task still needs leave at `stopS`. NaN: it never entered.
 */
export function exitTimes(graph: Graph, enterS: Float64Array, stopS: number): Float64Array {
  const leave = new Float64Array(enterS.length).fill(-Infinity);
  let edge = 0;
  graph.nDependencies.forEach((n: number, task: number) => {
    const landedS = enterS[task] as number;
    for (const end = edge + n; edge < end; edge += 1) {
      const needed = graph.edges[edge] as number;
      leave[needed] = Math.max(leave[needed] as number, Number.isNaN(landedS) ? Infinity : landedS);
    }
  });
  for (const key of graph.kept) {
    leave[key] = stopS;
  }
  return leave.map((timeS, key) => {
    const leftS = Number.isFinite(timeS) ? Math.min(timeS, stopS) : stopS;
    return Number.isNaN(enterS[key]) ? NaN : leftS;
  });
}
