/** Which task is under the pointer; binary searches only. */
import type { LaneTasks, RunRange } from '../../store';

/** How many tasks back a nested one may hide the one that contains it. */
const MAX_BACK = 1000;

/**
 * The place of the innermost task at `timeS`, else of the nearest one within `toleranceS`, else null.
 */
export function hitTask(lane: LaneTasks, timeS: number, toleranceS: number, runs: RunRange): number | null {
  const after = lane.firstStartingAfter(timeS);
  let nearest: number | null = null;
  let distanceS = toleranceS;
  const consider = (i: number): boolean => {
    if (!isShown(lane, i, runs)) {
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

/** How many tasks touch a span of time. */
export function countTouching(lane: LaneTasks, startS: number, stopS: number): number {
  return Math.max(lane.firstStarting(stopS) - lane.firstReaching(startS), 0);
}

function isShown(lane: LaneTasks, i: number, runs: RunRange): boolean {
  const run = lane.run[i] ?? 0;
  return runs === null || (run >= runs[0] && run <= runs[1]);
}
