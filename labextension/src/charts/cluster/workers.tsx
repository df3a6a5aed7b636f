/** CPU and memory of a cluster's workers: of all of them together, or of one that the person chooses. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { Quantity, SecondsOfPrefix, WorkerSeries, WorkerStore } from '../../store';
import { ofEachQuantity } from '../../store';
import type { ClusterWorker } from '../../wire';
import { formatCpu, sampleSpan } from '../resources/track';
import type { Brush, Plot } from '../timeline/drawing';
import type { TrackContext } from '../timeline/track';
import type { GaugeReading, Line, Peak, ValuePlot } from '../timeline/value-track';
import { Gauge, MIN_SAMPLES, VALUES_CSS, ValueTrack, bytesAxis, joined, peakOf } from '../timeline/value-track';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { Happening } from './life';
import { drawLife, happenings, lifeAt, lifeTable } from './life';
import { Seconds, secondsTable } from './kinds';

const CPU_PX = 64;
const MEMORY_PX = 104;
const LAG_PX = 40;
/** What distributed means the time between two ticks of an event loop to be. */
const MEANT_TICK_S = 0.02;
/** How strong the areas of results, and of all else, are. */
const STRONG = 0.45;
const WEAK = 0.16;
/** More than these no list shows; the first ones are. */
const MAX_LISTED = 2_000;

/** What is told where it is known, besides what each worker says. */
interface Extra {
  readonly quantity: Quantity;
  readonly title: string;
  readonly format: (value: number | null) => string;
}

interface WorkersSummary {
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
function summariseWorkers(series: WorkerSeries, span: Span): WorkersSummary | null {
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
function unmanagedBytes(rss: number | null, managed: number | null): number | null {
  return rss === null || managed === null ? null : Math.max(rss - managed, 0);
}

export class WorkersTrack extends ValueTrack {
  readonly name = 'workers';
  override readonly inBrief = 'head';
  override readonly css = VALUES_CSS + WORKERS_CSS;
  readonly label: string;
  /** The number of the worker that is shown; null: all of them. */
  #worker: number | null = null;
  #choices: ComponentChildren = null;
  #listed = '';
  #series: WorkerSeries | null = null;
  #summary: WorkersSummary | null = null;
  #told: readonly Happening[] = [];
  #seconds: readonly SecondsOfPrefix[] = [];
  readonly #lag: Extra;
  readonly #extras: readonly Extra[];

  constructor(context: TrackContext) {
    super(context);
    this.label = trans.__('Workers of the cluster');
    const perSecond = (bps: number | null): string => (bps === null ? formatBytes(null) : trans.__('%1/s', formatBytes(bps)));
    this.#lag = { quantity: 'tickS', title: trans.__('Event loop, between ticks'), format: formatDuration };
    this.#extras = [
      this.#lag,
      { quantity: 'gilContention', title: trans.__('Lock contention'), format: formatPercent },
      { quantity: 'netReadBps', title: trans.__('Machine: received'), format: perSecond },
      { quantity: 'netWriteBps', title: trans.__('Machine: sent'), format: perSecond },
      { quantity: 'diskReadBps', title: trans.__('Machine: read from disk'), format: perSecond },
      { quantity: 'diskWriteBps', title: trans.__('Machine: written to disk'), format: perSecond },
      { quantity: 'nFds', title: trans.__('File descriptors'), format: formatCount },
      { quantity: 'gpuPercent', title: trans.__('GPU'), format: value => formatPercent(value === null ? null : value / 100) },
      { quantity: 'gpuBytes', title: trans.__('GPU memory'), format: formatBytes }
    ];
  }

  protected sources(): readonly (number | null | undefined)[] {
    const { store, window } = this.context;
    const own = sampleSpan(store.tables, window);
    return [this.#workers?.version, this.#worker, own?.startS, own?.stopS, store.tables.remarks.length, store.cluster?.metrics.version];
  }

  protected read(): boolean {
    const { store, window } = this.context;
    const workers = this.#workers;
    const own = sampleSpan(store.tables, window);
    this.#seconds = store.cluster?.metrics.byPrefix(window) ?? [];
    this.#choices = this.#list(workers?.workers.values() ?? []);
    this.#series = workers?.series(this.#worker) ?? null;
    this.#told = happenings(store.tables, this.#worker === null ? null : (workers?.workers.get(this.#worker)?.address ?? ''));
    this.#summary = own === null || this.#series === null ? null : summariseWorkers(this.#series, own);
    return this.#summary !== null;
  }

  protected nothing(): string {
    return trans.__('nothing was heard of workers during this compute');
  }

  isAbsent(): boolean {
    return (this.#workers?.n ?? 0) === 0;
  }

  plots(): readonly ValuePlot[] {
    const [series, summary] = [this.#series, this.#summary];
    if (series === null || summary === null || summary.to - summary.from < MIN_SAMPLES) {
      return [];
    }
    const { peak, from, to } = summary;
    const line = (valueAt: (i: number) => number, fill = WEAK): Line => ({
      timeS: series.timeS, range: [from, to], fill,
      valueAt: i => (series.nWorkers[i] === 0 ? NaN : valueAt(i)),
      continues: i => series.continues(i)
    });
    const limit = this.#limit;
    const cpuPeak = peak.cpuPercent;
    return [
      {
        title: `${trans.__('CPU')} · ${this.#wholeCpu}`,
        axis: valueAxis(Math.max(this.#cpuShare(cpuPeak?.value) ?? 0, 1), 2, formatCpu),
        heightPx: CPU_PX,
        lines: [line(i => this.#cpuShare(series.cpuPercent[i]) ?? NaN)],
        peak: cpuPeak && { value: this.#cpuShare(cpuPeak.value) ?? 0, timeS: cpuPeak.timeS },
        format: formatCpu
      },
      {
        title: trans.__('Memory'),
        axis: bytesAxis(Math.max(peak.rssBytes?.value ?? 0, peak.spilledBytes?.value ?? 0, 1), limit),
        heightPx: MEMORY_PX,
        lines: [
          line(i => series.rssBytes[i] as number),
          line(i => Math.min(series.managedBytes[i] as number, series.rssBytes[i] as number), STRONG),
          { ...line(i => series.spilledBytes[i] as number, 0), isDotted: true }
        ],
        limitBytes: limit,
        peak: peak.rssBytes,
        format: formatBytes
      },
      ...(peak.tickS === null ? [] : [{
        title: this.#named(this.#lag),
        axis: valueAxis(Math.max(peak.tickS.value, MEANT_TICK_S * 5), 2, formatDuration),
        heightPx: LAG_PX,
        lines: [line(i => series.tickS[i] as number)],
        format: formatDuration
      }])
    ];
  }

  protected override drawOver(brush: Brush, plots: readonly Plot[]): void {
    drawLife(brush, plots, this.#told);
  }

  protected readings(timeS: number): readonly string[] {
    const [series, span] = [this.#series, this.context.navigator.frame?.span];
    const i = series?.at(timeS) ?? -1;
    const happened = span === undefined ? [] : lifeAt(this.#told, timeS, span, this.zeroS);
    if (series === null || i < 0 || series.nWorkers[i] === 0) {
      return [trans.__('no samples'), ...happened];
    }
    const value = (quantity: Quantity): number | null => {
      const found = series[quantity][i] as number;
      return Number.isNaN(found) ? null : found;
    };
    const [rss, managed] = [value('rssBytes'), value('managedBytes')];
    return [
      ...happened,
      ...(this.#worker === null ? [trans._n('%2 worker', '%2 workers', series.nWorkers[i] as number, formatCount(series.nWorkers[i] as number))] : []),
      trans.__('CPU %1', this.#cpu(value('cpuPercent'))),
      trans.__('memory %1', formatBytes(rss)),
      trans.__('results %1', formatBytes(managed)),
      trans.__('unmanaged %1', formatBytes(unmanagedBytes(rss, managed))),
      trans.__('spilled %1', formatBytes(value('spilledBytes'))),
      ...this.#known.filter(({ quantity }) => value(quantity) !== null).map(extra => `${this.#named(extra)}: ${extra.format(value(extra.quantity))}`)
    ];
  }

  description(): string {
    return trans.__('CPU and memory of workers over time; its table has the numbers');
  }

  override head(): ComponentChildren {
    const picker = (
      <div class="tsk-worker-picker">
        <select
          aria-label={trans.__('Worker')} value={this.#worker === null ? '' : `${this.#worker}`}
          onChange={({ currentTarget: { value } }) => {
            this.#worker = value === '' ? null : Number(value);
            this.choose();
          }}
        >
          {this.#choices}
        </select>
      </div>
    );
    return <div class="tsk-series-head">{picker}{this.gauges().map(reading => <Gauge {...reading} />)}</div>;
  }

  override foot(): ComponentChildren {
    if (this.#summary === null) {
      return null;
    }
    const { from, to, last, nWorkers } = this.#summary;
    const unmanaged = unmanagedBytes(last.rssBytes, last.managedBytes);
    const parts = [
      ['results', trans.__('results %1', formatBytes(last.managedBytes))],
      ['unmanaged', trans.__('unmanaged %1', formatBytes(unmanaged))],
      ['spilled', trans.__('spilled %1', formatBytes(last.spilledBytes))]
    ] as const;
    const notes = [nWorkers === 0 ? trans.__('gone') : '', to - from < MIN_SAMPLES ? trans.__('one sample') : this.growing ? '' : trans.__('gauges show the last sample')];
    return (
      <div class="tsk-series-foot">
        <div class="tsk-worker-foot">
          {parts.map(([name, text]) => <span><span class={`tsk-worker-swatch tsk-${name}`} />{text}</span>)}
          <span>{joined(notes)}</span>
        </div>
        {this.#seconds.length > 0 && <Seconds prefixes={this.#seconds} theme={this.context.theme()} />}
      </div>
    );
  }

  tables(): readonly TextTable[] {
    if (this.#summary === null) {
      return [];
    }
    const { last, peak } = this.#summary;
    const row = (name: string, quantity: Quantity, format: (value: number | null) => string): string[] => [
      name, format(last[quantity]), format(peak[quantity]?.value ?? null),
      peak[quantity] === null ? '' : formatDuration(peak[quantity].timeS - this.zeroS)
    ];
    return [{
      caption: this.label,
      columns: [trans.__('Resource'), this.growing ? trans.__('Now') : trans.__('Last'), trans.__('Peak'), trans.__('Peak at')],
      rows: [
        row(trans.__('CPU'), 'cpuPercent', percent => this.#cpu(percent)),
        row(trans.__('Memory'), 'rssBytes', formatBytes),
        row(trans.__('Results'), 'managedBytes', formatBytes),
        row(trans.__('Spilled'), 'spilledBytes', formatBytes),
        row(trans.__('Limit'), 'limitBytes', formatBytes),
        ...this.#known.map(extra => row(this.#named(extra), extra.quantity, extra.format))
      ]
    }, ...(this.#seconds.length === 0 ? [] : [secondsTable(this.#seconds)]), ...(this.#told.length === 0 ? [] : [lifeTable(this.#told, this.zeroS)])];
  }

  get #workers(): WorkerStore | undefined {
    return this.context.store.cluster?.workers;
  }

  /** Those of which something was ever said. */
  get #known(): readonly Extra[] {
    return this.#extras.filter(({ quantity }) => (this.#summary?.peak[quantity] ?? null) !== null);
  }

  /** What a quantity is called: of all workers it is that of the one which has the most. */
  #named({ title }: Extra): string {
    return this.#worker === null ? trans.__('%1 (most of any)', title) : title;
  }

  get #limit(): number | null {
    return this.#summary?.last.limitBytes ?? this.#summary?.peak.limitBytes?.value ?? null;
  }

  /** How many threads the workers had at their most: what their CPU is a share of, as that of the notebook is of its cores; null: unknown. */
  get #nThreads(): number | null {
    const n = this.#summary?.peak.nThreads?.value ?? 0;
    return n === 0 ? null : n;
  }

  get #wholeCpu(): string {
    const n = this.#nThreads;
    return n === null ? trans.__('100% = one core') : trans._n('100% = the one thread', '100% = all %2 threads', n, formatCount(n));
  }

  #cpuShare(percent: number | null | undefined): number | null {
    return percent === null || percent === undefined ? null : percent / 100 / (this.#nThreads ?? 1);
  }

  #cpu(percent: number | null | undefined): string {
    return formatCpu(this.#cpuShare(percent));
  }

  protected override gauges(): readonly GaugeReading[] {
    if (this.#summary === null) {
      return [];
    }
    const { last, peak } = this.#summary;
    const limit = this.#limit;
    const ofLimit = (value: number | null | undefined): number | null => (value === null || value === undefined || limit === null || limit === 0 ? null : value / limit);
    return [
      {
        name: trans.__('CPU of workers'), value: this.#cpu(last.cpuPercent), detail: trans.__('peak %1 · %2', this.#cpu(peak.cpuPercent?.value), this.#wholeCpu),
        share: this.#cpuShare(last.cpuPercent), peakShare: this.#cpuShare(peak.cpuPercent?.value)
      },
      {
        name: trans.__('Memory of workers'), value: formatBytes(last.rssBytes), detail: trans.__('peak %1 · limit %2', formatBytes(peak.rssBytes?.value ?? null), formatBytes(limit)),
        share: ofLimit(last.rssBytes), peakShare: ofLimit(peak.rssBytes?.value)
      }
    ];
  }

  /** The workers as choices; the same elements where they are the same workers. */
  #list(workers: Iterable<ClusterWorker>): ComponentChildren {
    const known = [...workers];
    const shown = known.slice(0, MAX_LISTED);
    const listed = [known.length, ...shown.map(({ worker, name }) => `${worker} ${name}`)].join('\n');
    if (listed === this.#listed) {
      return this.#choices;
    }
    this.#listed = listed;
    return [
      <option key="" value="">{trans.__('All workers (%1)', formatCount(known.length))}</option>,
      ...shown.map(({ worker, name, address }) => (
        <option key={worker} value={`${worker}`}>
          {name === address ? printable(address, 60) : trans.__('worker %1 · %2', printable(name, 40), printable(address, 60))}
        </option>
      ))
    ];
  }
}

const WORKERS_CSS = `
.tsk-workers[hidden] { display: none !important; }
.tsk-worker-picker { flex: 1 0 100%; }
.tsk-worker-picker select {
  max-width: min(320px, 100%); height: 26px; border: 1px solid var(--tsk-line); border-radius: 3px;
  background: var(--tsk-paper); color: var(--tsk-ink); font: inherit;
}
.tsk-worker-foot { display: flex; flex-wrap: wrap; gap: 2px 14px; }
.tsk-worker-swatch { display: inline-block; width: 11px; height: 11px; margin-inline-end: 5px; vertical-align: -1px; border-top: 1.5px solid var(--tsk-accent); forced-color-adjust: none; }
.tsk-worker-swatch:is(.tsk-results, .tsk-unmanaged) { background: color-mix(in srgb, var(--tsk-accent) 16%, transparent); }
.tsk-worker-swatch.tsk-results { background: color-mix(in srgb, var(--tsk-accent) 52%, transparent); }
.tsk-worker-swatch.tsk-spilled { border-top-style: dotted; }
.tsk-seconds { padding-top: 6px; }
.tsk-seconds-title { color: var(--tsk-ink); font-weight: 600; }
.tsk-seconds-row { display: flex; align-items: center; gap: 8px; min-width: 0; height: 18px; }
.tsk-seconds-prefix { flex: 0 1 18ch; min-width: 6ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--tsk-ink); }
.tsk-seconds-bar { flex: 1 1 0; display: flex; min-width: 0; height: 12px; }
.tsk-seconds-bar > span { flex: none; height: 100%; forced-color-adjust: none; }
.tsk-seconds-total { flex: 0 0 8ch; text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tsk-worker-picker select:focus-visible { outline: 2px solid var(--tsk-accent); }
`;
