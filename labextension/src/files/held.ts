/**
 * What the scheduler held during a recording, from moment to moment, as `taskscope/model/tables/held.py` works it out: of
 * each short stretch of time the moments of the most, the least and the last, exactly.
 */
import { lowerBound } from '../lib/search';
import type { Keys } from './keys';

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

/** A compute of this process; `stopS` null: it goes on at `nowS`. */
export interface HeldRun {
  readonly run: number;
  readonly startS: number | null;
  readonly stopS: number | null;
}

interface Sums {
  nKeys: number;
  nbytes: number;
  nUnsized: number;
  value: number;
  nUnvalued: number;
}

const nothing = (): Sums => ({ nKeys: 0, nbytes: 0, nUnsized: 0, value: 0, nUnvalued: 0 });

/** The rows to draw of these computes, in a recording whose longest one took `longestS`. */
export function heldRows(keys: Keys, runs: readonly HeldRun[], nowS: number, longestS: number): HeldRows {
  const stretchOf = stretchesOf(longestS);
  const rows: HeldRows = { run: [], group: [], timeS: [], nKeys: [], nbytes: [], nUnsized: [], value: [], nUnvalued: [] };
  const leaveS = exits(keys);
  for (const { run, startS, stopS } of runs) {
    const graph = keys.graphs.get(run);
    if (graph?.isKnown === 1) {
      const comings = comingsOf(keys, leaveS, keys.ofRun.get(run) ?? new Uint32Array(), stopS ?? nowS);
      const moments = momentsOf(comings, keys, keys.valuedRuns.has(run), timeS => stretchOf(timeS - (startS ?? 0)));
      addRows(rows, run, comings, keys, moments, stopS);
    }
  }
  return rows;
}

/** When each key left the scheduler's cache, which is when the last task that needs it had landed; Infinity: some did not, or it was asked for. */
function exits({ enterS, needing, needed, kept, n }: Keys): Float64Array {
  const leaveS = new Float64Array(n).fill(-Infinity);
  needing.forEach((key: number, i: number) => {
    const [other, landedS] = [needed[i] as number, enterS[key] as number];
    leaveS[other] = Math.max(leaveS[other] as number, Number.isNaN(landedS) ? Infinity : landedS);
  });
  kept.forEach((key: number) => { leaveS[key] = Infinity; });
  return leaveS.map(timeS => (timeS === -Infinity ? Infinity : timeS));
}

/** Comings and goings of one run in the order of time; columns of equal length. Of one time comings stand before goings. */
interface Comings {
  readonly timeS: Float64Array;
  readonly key: Uint32Array;
  /** 1: came, -1: went. */
  readonly sign: Int8Array;
}

/** What leaves at `stopS` is left out. */
function comingsOf({ enterS }: Keys, leaveS: Float64Array, keys: Uint32Array, stopS: number): Comings {
  const came = keys.filter(key => !Number.isNaN(enterS[key]));
  // Every time at which something happens is one at which something came.
  const times = Float64Array.from(came, key => enterS[key] as number).sort();
  const starts = new Uint32Array(times.length + 1);
  const each = (visit: (rank: number, key: number, sign: 1 | -1) => void): void => {
    const rankOf = (timeS: number): number => lowerBound(times, times.length, timeS);
    came.forEach(key => { visit(rankOf(enterS[key] as number), key, 1); });
    came.forEach(key => {
      const timeS = leaveS[key] as number;
      if (timeS < stopS) {
        visit(rankOf(timeS), key, -1);
      }
    });
  };
  each(rank => { starts[rank + 1] = (starts[rank + 1] as number) + 1; });
  starts.forEach((n, rank) => { starts[rank] = n + (rank > 0 ? (starts[rank - 1] as number) : 0); });
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

function add(sums: Sums, { nbytes, values }: Keys, key: number, sign: number): void {
  const [size, value] = [nbytes[key] as number, values[key] as number];
  sums.nKeys += sign;
  sums.nbytes += Number.isFinite(size) ? sign * size : 0;
  sums.nUnsized += Number.isFinite(size) ? 0 : sign;
  sums.value += Number.isFinite(value) ? sign * value : 0;
  sums.nUnvalued += Number.isFinite(value) ? 0 : sign;
}

/** The places of the last events of the moments that matter, in order. */
function momentsOf({ timeS, key, sign }: Comings, keys: Keys, isValued: boolean, stretchOf: (timeS: number) => number): number[] {
  const measures = isValued ? (['nKeys', 'nbytes', 'value'] as const) : (['nKeys', 'nbytes'] as const);
  const totals = nothing();
  const found = new Set<number>();
  let stretch = NaN;
  let best: { low: number; lowPlace: number; high: number; highPlace: number }[] = [];
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
    add(totals, keys, key[i] as number, sign[i] as number);
    if (i + 1 < key.length && timeS[i + 1] === timeS[i]) {
      continue;
    }
    const number = stretchOf(timeS[i] as number);
    if (number !== stretch) {
      close();
      stretch = number;
      best = measures.map(name => ({ low: totals[name], lowPlace: i, high: totals[name], highPlace: i }));
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
function addRows(rows: HeldRows, run: number, { timeS, key, sign }: Comings, keys: Keys, moments: readonly number[], stopS: number | null): void {
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
      const group = keys.columns.group[key[i] as number] as number;
      const sums = held.get(group) ?? nothing();
      add(sums, keys, key[i] as number, sign[i] as number);
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
    left.sort((a, b) => a - b).forEach(group => { addState(group, stopS, nothing()); });
  }
}

const PER_RUN = 200;

/** What gives each time after a start its stretch: at first evenly, then ever longer, up to a second. */
function stretchesOf(longestS: number): (elapsedS: number) => number {
  const shortestS = Math.max(longestS / PER_RUN, 1e-6);
  const evenS = shortestS * PER_RUN;
  const slowS = Math.max(PER_RUN, evenS);
  const clip = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
  return elapsedS => {
    const grown = Math.log(clip(elapsedS, evenS, slowS) / evenS) * PER_RUN;
    return Math.floor(clip(elapsedS, 0, evenS) / shortestS + grown + Math.max(elapsedS - slowS, 0));
  };
}
