/** CPU and memory of some computes: gauges, history, and the same in words. */
import { formatBytes, formatCount, formatDuration, formatPercent } from '../../lib/format';
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { ResourceStore, RunWindow, Tables } from '../../store';
import { inWindow } from '../../store';
import type { TimeFrame } from '../timeline/time';
import type { GaugeReading, Line, Peak, ValuePlot } from '../timeline/value-track';
import { MIN_SAMPLES, ValueTrack, bytesAxis, peakOf } from '../timeline/value-track';
import type { TextTable } from '../ui/tables';

const CPU_PX = 72;
const MEMORY_PX = 96;

export class ResourcesTrack extends ValueTrack {
  readonly name = 'resources';
  override readonly inBrief = 'head';
  #own: Span | null = null;
  #summary: ResourceSummary | null = null;

  /** Beside the workers of a cluster it says whose CPU and memory these are. */
  get label(): string {
    const { store: { cluster } } = this.context;
    return (cluster?.workers.n ?? 0) > 0 ? trans.__('Notebook and its processes') : trans.__('CPU and memory');
  }

  protected sources(): readonly (number | undefined)[] {
    const { store: { resources, tables }, window } = this.context;
    const span = sampleSpan(tables, window);
    return [resources.version, span?.startS, span?.stopS];
  }

  protected read(): boolean {
    const { store: { resources, tables }, window } = this.context;
    this.#own = sampleSpan(tables, window);
    this.#summary = this.#own === null ? null : summariseResources(resources, this.#own);
    return this.#summary !== null;
  }

  protected nothing(frame: TimeFrame | null): string {
    if (frame === null) {
      return trans.__('waiting for the first compute');
    }
    return frame.growing ? trans.__('no samples yet') : trans.__('no samples of CPU and memory for this compute');
  }

  plots(): readonly ValuePlot[] {
    const summary = this.#summary;
    if (summary !== null && summary.n < MIN_SAMPLES) {
      return [];
    }
    const { store: { resources } } = this.context;
    const line: Omit<Line, 'valueAt'> = {
      timeS: resources.timeS,
      range: this.#own === null ? [0, 0] : resources.within(this.#own),
      continues: i => resources.gap[i] !== 1 && !Number.isNaN(resources.cpuPercent[i]),
      isGap: i => resources.gap[i] === 1,
      widthPx: 1.5,
      fill: 0.22
    };
    return [
      {
        title: `${trans.__('CPU')} · ${summary === null ? '' : coresText(summary)}`,
        axis: valueAxis(Math.max(summary?.cpuPeak?.value ?? 0, 1), 2, formatCpu),
        heightPx: CPU_PX,
        lines: [{ ...line, valueAt: i => cpuShareOf(resources, i) ?? NaN, isMean: true }],
        peak: summary?.cpuPeak ?? null,
        format: formatCpu
      },
      {
        title: trans.__('Memory · resident'),
        axis: bytesAxis(Math.max(summary?.rssPeak.value ?? 0, 1), summary?.limitBytes ?? null),
        heightPx: MEMORY_PX,
        lines: [{ ...line, valueAt: i => resources.rssBytes[i] as number }],
        limitBytes: summary?.limitBytes ?? null,
        namesFarLimit: true,
        peak: summary?.rssPeak ?? null,
        format: formatBytes
      }
    ];
  }

  /** The sample that stands for a time: CPU is the mean up to it. */
  protected readings(timeS: number): readonly string[] {
    const { store: { resources } } = this.context;
    const [from, to] = resources.within(this.#own ?? { startS: 0, stopS: -1 });
    const i = upperBound(resources.timeS, to, timeS);
    if (i <= from || i >= to || (Number.isNaN(resources.cpuPercent[i]) && i > from)) {
      return [trans.__('no samples')];
    }
    const cpu = trans.__('CPU %1', formatCpu(cpuShareOf(resources, i)));
    if (resources.gap[i] === 1) {
      const gapS = (resources.timeS[i] as number) - (resources.timeS[i - 1] as number);
      return [trans.__('no samples for %1', formatDuration(gapS)), trans.__('%1 on average over the gap', cpu)];
    }
    const n = resources.nProcesses[i] ?? 1;
    const processes = n > 1 ? [trans._n('%2 process', '%2 processes', n, formatCount(n))] : [];
    return [cpu, trans.__('memory %1', formatBytes(resources.rssBytes[i] ?? null)), ...processes];
  }

  protected override gauges(): readonly GaugeReading[] {
    if (this.#summary === null) {
      return [];
    }
    const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = this.#summary;
    const ofLimit = (bytes: number): number | null => (limitBytes === null ? null : bytes / limitBytes);
    return [
      { name: trans.__('CPU'), value: formatCpu(cpuShare), detail: trans.__('peak %1 · %2', formatCpu(cpuPeak?.value ?? null), coresText(this.#summary)), share: cpuShare, peakShare: cpuPeak?.value ?? null },
      { name: trans.__('Memory'), value: formatBytes(rssBytes), detail: trans.__('peak %1 · limit %2', formatBytes(rssPeak.value), formatBytes(limitBytes)), share: ofLimit(rssBytes), peakShare: ofLimit(rssPeak.value) }
    ];
  }

  protected override notes(): readonly string[] {
    const summary = this.#summary;
    const samples = summary !== null && summary.n < MIN_SAMPLES ? trans.__('one sample') : this.growing ? '' : trans.__('gauges show the last sample');
    return summary === null ? [] : [samples, gapText(summary), processText(summary)];
  }

  override title(): string {
    return this.#summary === null ? this.label : summaryText(this.#summary, false);
  }

  description(): string {
    return this.#summary === null ? this.label : this.described(summaryText(this.#summary, this.growing));
  }

  tables(): readonly TextTable[] {
    if (this.#summary === null) {
      return [];
    }
    const columns = [trans.__('Resource'), this.growing ? trans.__('Now') : trans.__('Last'), trans.__('Peak'), trans.__('Peak at'), trans.__('Limit')];
    return [{ caption: trans.__('CPU and memory'), columns, rows: tableRows(this.#summary, this.zeroS) }];
  }

  override copied(): readonly TextTable[] {
    const { store } = this.context;
    return [...this.tables(), ...(this.#own === null ? [] : [sampleTable(store.resources, this.#own, this.zeroS)])];
  }
}

export interface ResourceSummary {
  readonly n: number;
  readonly nCores: number | null;
  readonly limitBytes: number | null;
  /** Of the last sample. Shares are of the available cores, or of one core where their number is not known. */
  readonly cpuShare: number | null;
  readonly rssBytes: number;
  readonly nProcesses: number;
  readonly cpuPeak: Peak | null;
  readonly rssPeak: Peak;
  readonly nGaps: number;
  /** Seconds of all gaps together. */
  readonly gapS: number;
}

/**
 * The time whose samples belong to these computes. The last sample of a compute comes right after its end, and
 * none are taken between computes.
 */
export function sampleSpan({ runs }: Tables, window: RunWindow): Span | null {
  const own = [...runs.values()].filter(run => inWindow(run.run, window));
  if (own.length === 0) {
    return null;
  }
  const startS = own.reduce((least, run) => Math.min(least, run.startS ?? Infinity), Infinity);
  const lastS = own.reduce((most, run) => Math.max(most, run.stopS ?? Infinity), -Infinity);
  const nextS = [...runs.values()]
    .filter(run => !inWindow(run.run, window) && (run.startS ?? -Infinity) >= lastS)
    .reduce((least, run) => Math.min(least, run.startS ?? Infinity), Infinity);
  return { startS, stopS: nextS };
}

/** CPU of a sample in cores' worth of the cores there are; null: unknown. */
export function cpuShareOf(store: ResourceStore, i: number): number | null {
  const percent = store.cpuPercent[i] ?? NaN;
  return Number.isNaN(percent) ? null : percent / 100 / (store.nCores ?? 1);
}

/** Work out the numbers; null without a sample. */
export function summariseResources(store: ResourceStore, span: Span): ResourceSummary | null {
  const [from, to] = store.within(span);
  if (from >= to) {
    return null;
  }
  let nGaps = 0;
  let gapS = 0;
  for (let i = from + 1; i < to; i += 1) {
    if (store.gap[i] === 1) {
      nGaps += 1;
      gapS += (store.timeS[i] as number) - (store.timeS[i - 1] as number);
    }
  }
  const peak = (valueAt: (i: number) => number): Peak | null => peakOf({ timeS: store.timeS, range: [from, to], valueAt });
  const last = to - 1;
  return {
    n: to - from,
    nCores: store.nCores,
    limitBytes: store.limitBytes,
    cpuShare: cpuShareOf(store, last),
    rssBytes: store.rssBytes[last] ?? 0,
    nProcesses: store.nProcesses[last] ?? 0,
    cpuPeak: peak(i => cpuShareOf(store, i) ?? NaN),
    rssPeak: peak(i => store.rssBytes[i] as number) ?? { value: 0, timeS: 0 },
    nGaps,
    gapS
  };
}

const MAX_SAMPLES = 10_000;

/** CPU as a percentage, exact where `formatPercent` would only say that it is not quite all. */
export function formatCpu(share: number | null): string {
  return share === null || share <= 1 ? formatPercent(share) : `${Math.round(share * 100)}%`;
}

/** What 100% of CPU is. */
export function coresText({ nCores }: Pick<ResourceSummary, 'nCores'>): string {
  if (nCores === null) {
    return trans.__('100% = one core');
  }
  return trans._n('100% = the one core available', '100% = all %2 cores available', nCores, formatCount(nCores));
}

/** What was not measured; empty where all was. */
export function gapText({ nGaps, gapS }: ResourceSummary): string {
  if (nGaps === 0) {
    return '';
  }
  const length = formatDuration(gapS);
  return trans._n(
    '%2 gap of %3 without samples (striped); a memory peak in it was not seen',
    '%2 gaps, %3 altogether, without samples (striped); a memory peak in one was not seen', nGaps, formatCount(nGaps), length
  );
}

export function processText({ nProcesses }: ResourceSummary): string {
  return nProcesses > 1 ? trans._n('%2 process; shared memory counted more than once', '%2 processes; shared memory counted more than once', nProcesses, formatCount(nProcesses)) : '';
}

/** What there is now, or at the end, with peaks and limits. */
export function summaryText(summary: ResourceSummary, growing: boolean): string {
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const cpu = trans.__('CPU %1, peak %2, %3', formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), coresText(summary));
  const memory = trans.__('memory %1, peak %2, limit %3', formatBytes(rssBytes), formatBytes(rssPeak.value), formatBytes(limitBytes));
  return `${growing ? trans.__('Now') : trans.__('At the end')}: ${cpu}; ${memory}`;
}

/** Every sample, the latest where there are too many, in plain numbers. */
export function sampleTable(store: ResourceStore, span: Span, zeroS: number): TextTable {
  const [first, to] = store.within(span);
  const from = Math.max(first, to - MAX_SAMPLES);
  const number = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? '' : String(value));
  const rows = Array.from({ length: to - from }, (_, k) => {
    const i = from + k;
    const timeS = (store.timeS[i] ?? NaN) - zeroS;
    return [timeS.toFixed(3), number(store.cpuPercent[i]), number(store.rssBytes[i]), number(store.nProcesses[i]), store.gap[i] === 1 ? trans.__('yes') : trans.__('no')];
  });
  const columns = [trans.__('Time (s)'), trans.__('CPU (% of one core)'), trans.__('Resident memory (bytes)'), trans.__('Processes'), trans.__('After a gap')];
  const all = to - first;
  const caption = from > first ? trans.__('The last %1 of %2 samples', formatCount(rows.length), formatCount(all)) : trans._n('%2 sample', '%2 samples', all, formatCount(all));
  return { caption, columns, rows };
}

export function tableRows(summary: ResourceSummary, zeroS: number): string[][] {
  const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
  const at = (timeS: number | undefined): string => (timeS === undefined ? formatDuration(null) : formatDuration(timeS - zeroS));
  return [
    [trans.__('CPU, %1', coresText(summary)), formatCpu(cpuShare), formatCpu(cpuPeak?.value ?? null), at(cpuPeak?.timeS), '100%'],
    [trans.__('Memory'), formatBytes(rssBytes), formatBytes(rssPeak.value), at(rssPeak.timeS), formatBytes(limitBytes)]
  ];
}
