/** What was measured of one span, as columns of another one: by area, so that no busy time is lost or made up. */
import type { Span } from '../../lib/span';
import { widthS } from '../../lib/span';
import type { Coverage, CoverageColumns } from './coverage';
import { NO_PREFIX } from './amounts';

/** Less of a column than this is a rounding error. */
const NOTHING = 1e-6;

export interface Resampled {
  /** The columns that were filled: from the first up to the last, which is left out. */
  readonly first: number;
  readonly last: number;
  /** Whether columns lie on columns, so that the result is as exact as what it was made of. */
  readonly exact: boolean;
}

/** Fill the columns of `to` that lie within what `from` has. */
export function resample(from: CoverageColumns, fromSpan: Span, to: Coverage, toSpan: Span, columns: number): Resampled {
  to.resize(columns);
  const n = from.cover.length;
  const step = (widthS(toSpan) / columns / widthS(fromSpan)) * n;
  const shift = ((toSpan.startS - fromSpan.startS) / widthS(fromSpan)) * n;
  const exact = Math.abs(step - 1) * n < NOTHING && Math.abs(shift - Math.round(shift)) < NOTHING;
  const first = Math.min(Math.max(Math.ceil(-shift / step - NOTHING), 0), columns);
  const last = Math.max(Math.min(Math.floor((n - shift) / step + NOTHING), columns), first);
  for (let c = first; c < last; c += 1) {
    blend(from, Math.max(shift + c * step, 0), Math.min(shift + (c + 1) * step, n), to, c);
  }
  return { first, last, exact };
}

/** Column `c` of `to` is what `from` has between two places. */
function blend(from: CoverageColumns, left: number, right: number, to: Coverage, c: number): void {
  let [cover, focus, bad, marks, most] = [0, 0, 0, 0, 0];
  let prefix = NO_PREFIX;
  for (let k = Math.floor(left); k < right; k += 1) {
    const part = (Math.min(k + 1, right) - Math.max(k, left)) / (right - left);
    if (part > NOTHING) {
      const own = (from.cover[k] as number) * part;
      cover += own;
      focus += (from.focus[k] as number) * part;
      bad += (from.bad[k] as number) * part;
      marks |= from.marks[k] as number;
      if (from.prefix[k] !== NO_PREFIX && (prefix === NO_PREFIX || own > most)) {
        most = own;
        prefix = from.prefix[k] as number;
      }
    }
  }
  to.cover[c] = cover;
  to.focus[c] = focus;
  to.bad[c] = bad;
  to.marks[c] = marks;
  to.prefix[c] = prefix;
}
