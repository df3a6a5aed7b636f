/** CPU and memory of some computes: gauges, history, and the same in words. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { TimeFrame } from '../timeline/time';
import type { GaugeReading, Line, ValuePlot } from '../timeline/value-track';
import { MIN_SAMPLES, ValueTrack, bytesAxis } from '../timeline/value-track';
import type { TextTable } from '../ui/tables';
import type { ResourceSummary } from './summary';
import { coresText, cpuShareOf, formatCpu, gapText, processText, sampleSpan, sampleTable, summariseResources, summaryText, tableRows } from './summary';

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
