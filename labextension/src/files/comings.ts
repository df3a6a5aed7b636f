/** The comings and goings of results in the scheduler's cache during one run, in the order of time. */
import { lowerBound } from '../lib/search';
import { enterTimes, exitTimes } from './graph';
import type { Graph, RowBlock } from './recording';
import { UNKNOWN_U4 } from './schema';

/** Columns of equal length; events of one time happened at once, comings before goings. */
export interface Comings {
  readonly timeS: Float64Array;
  readonly key: Uint32Array;
  /** 1: came, -1: went. */
  readonly sign: Int8Array;
}

/** What of a run came before `stopS` and went before it; what leaves at `stopS` is left out. */
export function comingsOf(graph: Graph, stopS: number): Comings {
  const enterS = enterTimes(graph);
  const leaveS = exitTimes(graph, enterS, stopS);
  // Every time at which something happens is one at which something came.
  const times = enterS.filter(timeS => !Number.isNaN(timeS)).sort();
  const rankOf = (timeS: number): number => lowerBound(times, times.length, timeS);
  const starts = new Uint32Array(times.length + 1);
  const each = (visit: (rank: number, key: number, sign: 1 | -1) => void): void => {
    enterS.forEach((timeS, key) => {
      if (!Number.isNaN(timeS)) {
        visit(rankOf(timeS), key, 1);
      }
    });
    leaveS.forEach((timeS, key) => {
      if (timeS < stopS) {
        visit(rankOf(timeS), key, -1);
      }
    });
  };
  each(rank => {
    starts[rank + 1] = (starts[rank + 1] as number) + 1;
  });
  starts.forEach((n, rank) => {
    starts[rank] = n + (rank > 0 ? (starts[rank - 1] as number) : 0);
  });
  const n = starts.at(-1) ?? 0;
  const found = { timeS: new Float64Array(n), key: new Uint32Array(n), sign: new Int8Array(n) };
  each((rank, key, sign) => {
    const place = starts[rank] as number;
    starts[rank] = place + 1;
    found.timeS[place] = times[rank] as number;
    found.key[place] = key;
    found.sign[place] = sign;
  });
  return found;
}

/** The bytes of every key of a run, NaN where unknown. */
export function sizesOf(graph: Graph, blocks: readonly RowBlock[]): Float64Array {
  const sizes = new Float64Array(graph.group.length).fill(NaN);
  graph.data.forEach((key, i) => {
    sizes[key] = graph.dataSizes[i] as number;
  });
  for (const { task, size } of blocks) {
    task.forEach((key, i) => {
      const bytes = size[i] as number;
      sizes[key] = size instanceof Uint32Array && bytes === UNKNOWN_U4 ? NaN : bytes;
    });
  }
  return sizes;
}
