/** What was measured of something at some times: its peak and its mean while computes ran. */
import type { Span } from '../../lib/span';
import type { RunRange, Tables } from '../../store';
import { inRunRange } from '../../store';

export interface Peak {
  readonly value: number;
  readonly timeS: number;
}

/** When quantities were measured. */
export interface Samples {
  readonly timeS: Float64Array;
  /** The samples that belong to the computes: from, and up to but not including. */
  readonly range: readonly [from: number, to: number];
  /** Whether a sample goes on from the one before. */
  readonly continues: (i: number) => boolean;
  /** Whether samples are missing before this one. */
  readonly isGap?: (i: number) => boolean;
  /** The sample that stands for a time; out of range: none does. */
  readonly at: (timeS: number) => number;
}

export interface QuantitySpec {
  readonly name: string;
  /** NaN: unknown. */
  readonly valueAt: (i: number) => number;
  readonly format: (value: number | null) => string;
  /** Its name beside its gauge; left out: the same. */
  readonly gauge?: string;
  /** What it is at most, which a gauge shows it as a part of; null: unknown; left out: it has no gauge. */
  readonly limit?: number | null;
  /** The limit in words. */
  readonly ofLimit?: string;
  /** The most since the sample before, where it is known better than by samples. */
  readonly mostAt?: (i: number) => number;
  /** Whether its mean says more of ended computes than its peak. */
  readonly hasMean?: boolean;
  /** The end of the computes, up to which mean and peak are taken. */
  readonly endS?: number;
  /** Whether a value is the mean of the time since the sample before. */
  readonly isMean?: boolean;
  /** How the legend shows it; left out: it is not in the legend. */
  readonly look?: string;
  /** Its column where samples are copied, in plain numbers; left out: it has none. */
  readonly copied?: readonly [title: string, valueAt: (i: number) => number | undefined];
}

/** What was measured of one thing. */
export interface Quantity extends QuantitySpec {
  /** Of the last sample; null: unknown. */
  readonly last: number | null;
  /** The most, and when; null: it was never known. */
  readonly peak: Peak | null;
  /** The most after the end of the computes, where that is more; null: it is not. */
  readonly afterwards: number | null;
  /** Over the time between samples; null: it has none. */
  readonly mean: number | null;
}

/** What was measured of one thing. */
export function quantityOf({ timeS, range: [from, to] }: Samples, spec: QuantitySpec): Quantity {
  const { valueAt, mostAt = valueAt, endS = Infinity } = spec;
  const last = valueAt(to - 1);
  let peak: Peak | null = null;
  let [sum, lengthS, later] = [0, 0, -Infinity];
  for (let i = from; i < to; i += 1) {
    const [most, value] = [mostAt(i), valueAt(i)];
    const tookS = i > from ? (timeS[i] as number) - (timeS[i - 1] as number) : 0;
    // The first sample after the end was taken right after it.
    if (i > from && (timeS[i - 1] as number) >= endS) {
      later = most > later ? most : later;
      continue;
    }
    if (peak === null ? !Number.isNaN(most) : most > peak.value) {
      peak = { value: most, timeS: timeS[i] as number };
    }
    if (!Number.isNaN(value)) {
      sum += value * tookS;
      lengthS += tookS;
    }
  }
  const afterwards = later > (peak?.value ?? Infinity) ? later : null;
  return { ...spec, last: Number.isNaN(last) ? null : last, peak, afterwards, mean: lengthS > 0 ? sum / lengthS : null };
}

/** The time whose samples belong to some computes; those between two computes belong to the one before. */
export function sampleSpan({ runs }: Tables, runRange: RunRange): Span & { endS: number } {
  const own = [...runs.values()].filter(run => inRunRange(run.run, runRange));
  const startS = own.reduce((least, run) => Math.min(least, run.startS ?? Infinity), Infinity);
  const endS = own.reduce((most, run) => Math.max(most, run.stopS ?? Infinity), -Infinity);
  const later = [...runs.values()].filter(run => !inRunRange(run.run, runRange) && (run.startS ?? -Infinity) >= endS);
  return { startS, endS, stopS: later.reduce((least, run) => Math.min(least, run.startS ?? Infinity), Infinity) };
}
