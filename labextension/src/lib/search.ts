/** Binary search in the first `n` numbers of a sorted column. */

export type Column = Float64Array | Uint32Array | Int32Array;

/** The first place whose value is at least `value`; `n` if there is none. */
export function lowerBound(column: Column, n: number, value: number): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((column[middle] as number) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** The first place whose value is above `value`; `n` if there is none. */
export function upperBound(column: Column, n: number, value: number): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((column[middle] as number) <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
