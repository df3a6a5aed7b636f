/** How time after a run's start is cut, as `taskscope/model/held.py` does: at first evenly, then ever longer, up to a second. */

const PER_RUN = 200;

/** Return what gives each time after the start its stretch, for a recording whose longest run is this long. */
export function stretchesOf(longestS: number): (elapsedS: number) => number {
  const shortestS = Math.max(longestS / PER_RUN, 1e-6);
  const evenS = shortestS * PER_RUN;
  const slowS = Math.max(PER_RUN, evenS);
  const clip = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
  return elapsedS => {
    const grown = Math.log(clip(elapsedS, evenS, slowS) / evenS) * PER_RUN;
    return Math.floor(clip(elapsedS, 0, evenS) / shortestS + grown + Math.max(elapsedS - slowS, 0));
  };
}
