/** CPU and memory of workers in numbers: of the last sample, and at their most. */
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import type { Quantity, WorkerSeries } from '../../store';
import { ofEachQuantity } from '../../store';
import type { Peak } from '../timeline/value-track';
import { peakOf } from '../timeline/value-track';

export interface WorkersSummary {
  /** The samples that belong to the computes: from, and up to but not including. */
  readonly from: number;
  readonly to: number;
  /** How many workers the last sample is of. */
  readonly nWorkers: number;
  /** Of the last sample; null: unknown. */
  readonly last: Readonly<Record<Quantity, number | null>>;
  /** The most, and when; null where it was never known. */
  readonly peak: Readonly<Record<Quantity, Peak | null>>;
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
  return {
    from, to, nWorkers: series.nWorkers[to - 1] as number,
    last: ofEachQuantity(quantity => known(quantity, to - 1)), peak: ofEachQuantity(quantity => peakOf({ timeS: series.timeS, range: [from, to], valueAt: i => series[quantity][i] as number }))
  };
}

/** What a process's memory has besides results; null: unknown. Where results are measured larger than the process it is 0. */
export function unmanagedBytes(rss: number | null, managed: number | null): number | null {
  return rss === null || managed === null ? null : Math.max(rss - managed, 0);
}
