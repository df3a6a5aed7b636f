/**
 * What the scheduler held during a recording, from moment to moment, as `taskscope/model/held.py` works it out: of
 * each short stretch of time the moments of the most, the least and the last, exactly. Of a cluster: what its workers
 * were seen to hold.
 */
import type { Comings } from './comings';
import { comingsOf, sizesOf } from './comings';
import type { FileRecording, Graph } from './recording';
import { isOnCluster } from '../wire';
import { stretchesOf } from './stretches';

/** Rows of all runs, each run's in the order of time. */
export interface HeldRows {
  readonly run: number[];
  readonly group: number[];
  readonly timeS: number[];
  readonly nKeys: number[];
  readonly nbytes: number[];
  readonly nUnsized: number[];
  readonly value: number[];
  readonly nUnvalued: number[];
}

interface Sums {
  nKeys: number;
  nbytes: number;
  nUnsized: number;
  value: number;
  nUnvalued: number;
}

interface Amounts {
  readonly group: Uint32Array;
  readonly sizes: Float64Array;
  readonly values: Float64Array | null;
}

const nothing = (): Sums => ({ nKeys: 0, nbytes: 0, nUnsized: 0, value: 0, nUnvalued: 0 });

/** The rows to draw. */
export function heldRows(recording: FileRecording): HeldRows {
  const lengthsS = recording.runs.map(run => (run.stopS ?? recording.nowS) - (run.startS ?? 0));
  const stretchOf = stretchesOf(Math.max(0, ...lengthsS));
  const rows: HeldRows = { run: [], group: [], timeS: [], nKeys: [], nbytes: [], nUnsized: [], value: [], nUnvalued: [] };
  for (const run of recording.runs) {
    const graph = recording.graphs.get(run.run);
    if (graph !== undefined && !isOnCluster(run)) {
      const stopS = run.stopS ?? recording.nowS;
      const amounts = amountsOf(recording, run.run, graph);
      const comings = comingsOf(graph, stopS);
      const moments = momentsOf(comings, amounts, timeS => stretchOf(timeS - (run.startS ?? 0)));
      addRows(rows, run.run, comings, amounts, moments, run.stopS);
    }
  }
  addHoldings(rows, recording);
  return rows;
}

function addHoldings(rows: HeldRows, { holdings }: FileRecording): void {
  for (let i = 0; i < holdings.time.length; i += 1) {
    const nKeys = holdings.nKeys[i] as number;
    rows.run.push(holdings.run[i] as number);
    rows.group.push(holdings.group[i] as number);
    rows.timeS.push(holdings.time[i] as number);
    rows.nKeys.push(nKeys);
    rows.nbytes.push(holdings.nbytes[i] as number);
    rows.nUnsized.push(holdings.nUnsized[i] as number);
    rows.value.push(0);
    rows.nUnvalued.push(nKeys);
  }
}

function amountsOf({ blocks }: FileRecording, run: number, graph: Graph): Amounts {
  return { group: graph.group, sizes: sizesOf(graph, blocks.filter(block => block.run === run)), values: graph.values };
}

function add(sums: Sums, { sizes, values }: Amounts, key: number, sign: number): void {
  const [size, value] = [sizes[key] as number, values?.[key] ?? NaN];
  sums.nKeys += sign;
  sums.nbytes += Number.isFinite(size) ? sign * size : 0;
  sums.nUnsized += Number.isFinite(size) ? 0 : sign;
  sums.value += Number.isFinite(value) ? sign * value : 0;
  sums.nUnvalued += Number.isFinite(value) ? 0 : sign;
}

/** The places of the last events of the moments that matter, in order. */
function momentsOf(comings: Comings, amounts: Amounts, stretchOf: (timeS: number) => number): number[] {
  const measures = amounts.values === null ? (['nKeys', 'nbytes'] as const) : (['nKeys', 'nbytes', 'value'] as const);
  const { timeS, key, sign } = comings;
  const totals = nothing();
  const found = new Set<number>();
  let stretch = NaN;
  let best: { place: number; low: number; lowPlace: number; high: number; highPlace: number }[] = [];
  let last = -1;
  const close = (): void => {
    for (const { lowPlace, highPlace } of best) {
      found.add(lowPlace).add(highPlace);
    }
    if (last >= 0) {
      found.add(last);
    }
  };
  for (let i = 0; i < key.length; i += 1) {
    add(totals, amounts, key[i] as number, sign[i] as number);
    if (i + 1 < key.length && timeS[i + 1] === timeS[i]) {
      continue;
    }
    const number = stretchOf(timeS[i] as number);
    if (number !== stretch) {
      close();
      stretch = number;
      best = measures.map(name => ({ place: i, low: totals[name], lowPlace: i, high: totals[name], highPlace: i }));
    }
    measures.forEach((name, m) => {
      const extremes = best[m];
      const total = totals[name];
      if (extremes !== undefined && total < extremes.low) {
        [extremes.low, extremes.lowPlace] = [total, i];
      }
      if (extremes !== undefined && total > extremes.high) {
        [extremes.high, extremes.highPlace] = [total, i];
      }
    });
    last = i;
  }
  close();
  return [...found].sort((a, b) => a - b);
}

/** Add, at each moment, the state of every group that changed since the one before. */
function addRows(
  rows: HeldRows, run: number, { timeS, key, sign }: Comings, amounts: Amounts, moments: readonly number[], stopS: number | null
): void {
  const held = new Map<number, Sums>();
  const addState = (group: number, at: number, sums: Sums): void => {
    rows.run.push(run);
    rows.group.push(group);
    rows.timeS.push(at);
    rows.nKeys.push(sums.nKeys);
    rows.nbytes.push(sums.nbytes);
    rows.nUnsized.push(sums.nUnsized);
    rows.value.push(sums.value);
    rows.nUnvalued.push(sums.nUnvalued);
  };
  let i = 0;
  for (const moment of moments) {
    const changed = new Set<number>();
    for (; i <= moment; i += 1) {
      const group = amounts.group[key[i] as number] as number;
      const sums = held.get(group) ?? nothing();
      add(sums, amounts, key[i] as number, sign[i] as number);
      // Sums of floats do not come back to 0 by themselves.
      held.set(group, sums.nKeys === 0 ? nothing() : sums);
      changed.add(group);
    }
    for (const group of [...changed].sort((a, b) => a - b)) {
      addState(group, timeS[moment] as number, held.get(group) ?? nothing());
    }
  }
  if (stopS !== null) {
    const left = [...held].filter(([, sums]) => sums.nKeys > 0).map(([group]) => group);
    left.sort((a, b) => a - b).forEach(group => {
      addState(group, stopS, nothing());
    });
  }
}
