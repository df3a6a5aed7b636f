/** Workers in numbers: of the last sample, and the most of all. */
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import type { Quantity, WorkerSeries } from '../../store';
import { ofEachQuantity } from '../../store';

export interface WorkersSummary {
  /** The samples that belong to the computes: from, and up to but not including. */
  readonly from: number;
  readonly to: number;
  /** How many workers the last sample is of. */
  readonly nWorkers: number;
  /** Of the last sample; null: unknown. */
  readonly last: Readonly<Record<Quantity, number | null>>;
  /** The most, and when; null where it was never known. */
  readonly peak: Readonly<Record<Quantity, { readonly value: number; readonly timeS: number } | null>>;
}

/** Work out the numbers; null without a sample. */
export function summariseWorkers(series: WorkerSeries, span: Span): WorkersSummary | null {
  const from = upperBound(series.timeS, series.n, span.startS);
  const to = upperBound(series.timeS, series.n, span.stopS);
  if (from >= to) {
    return null;
  }
  const known = (quantity: Quantity, i: number): number | null => {
    const value = series[quantity][i] ?? NaN;
    return Number.isNaN(value) ? null : value;
  };
  const peakOf = (quantity: Quantity): { value: number; timeS: number } | null => {
    let peak: { value: number; timeS: number } | null = null;
    for (let i = from; i < to; i += 1) {
      const value = known(quantity, i);
      if (value !== null && (peak === null || value > peak.value)) {
        peak = { value, timeS: series.timeS[i] as number };
      }
    }
    return peak;
  };
  return {
    from, to, nWorkers: series.nWorkers[to - 1] as number,
    last: ofEachQuantity(quantity => known(quantity, to - 1)), peak: ofEachQuantity(peakOf)
  };
}

/** What a process's memory has besides results; null: unknown. Where results are measured larger than the process it is 0. */
export function unmanagedBytes(rss: number | null, managed: number | null): number | null {
  return rss === null || managed === null ? null : Math.max(rss - managed, 0);
}
