/** Which task is under the pointer; binary searches only. */
import type { LaneTasks, RunRange, Sight } from '../../store';
import { isShown } from './picture';

/** How many tasks back a nested one may hide the one that contains it. */
const MAX_BACK = 1000;

/**
 * The place of the innermost task at `timeS`, else of the nearest one within `toleranceS`, else null.
 */
export function hitTask(lane: LaneTasks, timeS: number, toleranceS: number, runs: RunRange, sight: Sight): number | null {
  const after = lane.firstStartingAfter(timeS);
  let nearest: number | null = null;
  let distanceS = toleranceS;
  const consider = (i: number): boolean => {
    if (!isShown(lane, i, runs, sight)) {
      return false;
    }
    const away = Math.max((lane.startS[i] ?? 0) - timeS, timeS - (lane.stopS[i] ?? 0), 0);
    if (away <= distanceS) {
      nearest = i;
      distanceS = away;
    }
    return away === 0;
  };
  for (let i = after - 1; i >= Math.max(after - MAX_BACK, 0) && (lane.reachS[i] ?? 0) >= timeS - toleranceS; i -= 1) {
    if (consider(i)) {
      return i;
    }
  }
  if (after < lane.n) {
    consider(after);
  }
  return nearest;
}

/** How many tasks that are shown touch a span of time. */
export function countTouching(lane: LaneTasks, startS: number, stopS: number, runs: RunRange, sight: Sight): number {
  const first = lane.firstReaching(startS);
  const last = lane.firstStarting(stopS);
  if (runs === null && sight.hidden === null) {
    return Math.max(last - first, 0);
  }
  let n = 0;
  for (let i = first; i < last; i += 1) {
    n += isShown(lane, i, runs, sight) ? 1 : 0;
  }
  return n;
}
