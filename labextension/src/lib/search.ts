/** Binary search, in the first `n` numbers of a sorted column and elsewhere. */

export type Column = Float64Array | Uint32Array | Int32Array;

/** The first place whose value is at least `value`; `n` if there is none. */
export function lowerBound(column: Column, n: number, value: number): number {
  return firstPlace(0, n, place => !((column[place] as number) < value));
}

/** The first place whose value is above `value`; `n` if there is none. */
export function upperBound(column: Column, n: number, value: number): number {
  return firstPlace(0, n, place => !((column[place] as number) <= value));
}

/** The first place from `low` on, and before `high`, that is one of those wanted, which stand at the end; `high` if there is none. */
export function firstPlace(low: number, high: number, isWanted: (place: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isWanted(middle)) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}
