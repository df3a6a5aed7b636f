/** One pass over the tasks of a lane, or their blocks, that adds them up by pixel column. */
import type { Amounts } from './amounts';
import type { BlockLevel } from './blocks';
import { LEVEL_BITS, TRACE_S } from './blocks';
import type { Look } from './coverage';
import { MARK } from './coverage';
import type { LaneTasks } from './lane-tasks';

/** Some columns of what is looked at. */
export interface Stretch {
  readonly look: Look;
  /** Columns in a second. */
  readonly scale: number;
  /** The first column, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** A task at least this wide gets an edge, so that neighbours of one colour are told apart. */
const EDGE_COLUMNS = 4;

/**
 * Add to `cover` and `amounts`, whose first column is that of the stretch, and to `marks`, which has all columns.
 *
 * Tasks come sorted by start, so what ran until now in this lane is one stretch of time up to `reach`, and before it
 * nothing is covered a second time.
 */
export function sweep(lane: LaneTasks, stretch: Stretch, cover: Float32Array, amounts: Amounts, marks: Uint8Array): void {
  const { look, scale, from, to } = stretch;
  const { startS, stopS, prefix, blocks } = lane;
  const originS = look.span.startS;
  const endS = Math.min(originS + to / scale, look.untilS);
  const end = Math.min((look.untilS - originS) * scale, to);
  const trace = TRACE_S * scale;
  const all = look.runs === null && look.sight.hidden === null;
  const first = lane.firstReaching(originS + from / scale);
  const last = lane.firstStarting(to === look.columns ? Math.min(look.span.stopS, look.untilS) : endS);
  let reach = from;
  for (let i = first; i < last; ) {
    if ((i & 7) === 0) {
      // The largest block that lies within one column and behind all before it.
      let taken = 0;
      for (let level = 1; level >= 0 && taken === 0; level -= 1) {
        const bits = LEVEL_BITS[level as 0 | 1];
        const of = level === 1 ? blocks.coarse : blocks.fine;
        const b = i >> bits;
        if (b << bits === i && (b + 1) << bits <= last && b < of.n) {
          const x0 = ((of.startS[b] as number) - originS) * scale;
          const x1 = ((of.stopS[b] as number) - originS) * scale;
          if (x0 >= reach && x0 < to && x1 <= end && x1 <= (x0 | 0) + 1 && (all || isWhole(of, b, look))) {
            const column = (x0 | 0) - from;
            for (let k = of.entry[b] as number; k < (of.entry[b + 1] as number); k += 1) {
              const amount = (of.seconds[k] as number) * scale;
              amounts.add(column, of.prefix[k] as number, amount);
              cover[column] = (cover[column] as number) + amount;
            }
            reach = x1;
            taken = 1 << bits;
          }
        }
      }
      if (taken > 0) {
        i += taken;
        continue;
      }
    }
    if (all || isCounted(lane, i, look)) {
      const begin = ((startS[i] as number) - originS) * scale;
      const stop = ((stopS[i] as number) - originS) * scale;
      const x0 = begin > from ? begin : from;
      if (x0 >= to) {
        break;
      }
      const column = x0 | 0;
      if (stop <= column + 1 && stop <= end) {
        if (stop >= x0) {
          amounts.add(column - from, prefix[i] as number, stop - x0 + trace);
        }
        if (stop > reach) {
          cover[column - from] = (cover[column - from] as number) + stop - (x0 > reach ? x0 : reach);
          reach = stop;
        }
      } else {
        const x1 = stop < end ? stop : end;
        for (let c = column; c < x1; c += 1) {
          const right = x1 < c + 1 ? x1 : c + 1;
          const left = x0 > c ? x0 : c;
          amounts.add(c - from, prefix[i] as number, right - left);
          if (right > reach) {
            cover[c - from] = (cover[c - from] as number) + right - (left > reach ? left : reach);
          }
        }
        reach = Math.max(reach, x1);
        // The first whole column of the bar: where it begins, coverage speaks.
        const edge = Math.ceil(begin);
        if (stop - begin >= EDGE_COLUMNS && edge >= from && edge < to) {
          marks[edge] = (marks[edge] as number) | MARK.edge;
        }
      }
    }
    i += 1;
  }
}

/** Whether a task counts at all. */
export function isCounted({ run, prefix }: LaneTasks, i: number, { runs, sight: { hidden } }: Look): boolean {
  return (runs === null || ((run[i] as number) >= runs[0] && (run[i] as number) <= runs[1])) && hidden?.[prefix[i] as number] !== 1;
}

/** Whether all tasks of a block count. */
function isWhole({ run, entry, prefix }: BlockLevel, b: number, { runs, sight: { hidden } }: Look): boolean {
  if (runs !== null && ((run[b] as number) < runs[0] || (run[b] as number) > runs[1])) {
    return false;
  }
  if (hidden !== null) {
    for (let k = entry[b] as number; k < (entry[b + 1] as number); k += 1) {
      if (hidden[prefix[k] as number] === 1) {
        return false;
      }
    }
  }
  return true;
}
