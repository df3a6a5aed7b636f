/** CPU and memory of a cluster's workers: of all of them together, or of one that the person chooses. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import type { Span } from '../../lib/span';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { Quantity, SecondsOfPrefix, WorkerSeries, WorkerStore } from '../../store';
import type { ClusterWorker } from '../../wire';
import { Gauge, MIN_SAMPLES, RESOURCES_CSS } from '../resources/track';
import { formatCpu, sampleSpan } from '../resources/summary';
import type { Brush, Plot, PlotSpec } from '../timeline/drawing';
import { PlotTrack } from '../timeline/plot-track';
import type { TimeFrame } from '../timeline/time';
import type { TrackContext } from '../timeline/track';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { Happening } from './life';
import { drawLife, happenings, lifeAt, lifeTable } from './life';
import { Seconds, secondsTable } from './seconds';
import { WORKERS_CSS } from './style';
import type { WorkersSummary } from './workers-data';
import { drawWorkers, summariseWorkers, unmanagedBytes } from './workers-data';

const CPU_PX = 64;
const MEMORY_PX = 104;
const LAG_PX = 40;
/** What distributed means the time between two ticks of an event loop to be. */
const MEANT_TICK_S = 0.02;
/** A limit beyond so many peaks is told in words only: on the scale it would press the history flat. */
const FAR = 4;
/** More than these no list shows; the first ones are. */
const MAX_LISTED = 2_000;

/** What is told where it is known, besides what each worker says. */
interface Extra {
  readonly quantity: Quantity;
  readonly title: string;
  readonly format: (value: number | null) => string;
}

export class WorkersTrack extends PlotTrack {
  readonly name = 'workers';
  override readonly inBrief = 'head';
  override readonly css = RESOURCES_CSS + WORKERS_CSS;
  readonly label: string;
  /** The number of the worker that is shown; null: all of them. */
  #worker: number | null = null;
  #choices: ComponentChildren = null;
  #listed = '';
  #series: WorkerSeries | null = null;
  #summary: WorkersSummary | null = null;
  #told: readonly Happening[] = [];
  #span: Span | null = null;
  #seconds: readonly SecondsOfPrefix[] = [];
  #growing = false;
  #zeroS = 0;
  #seen = '';
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

  update(frame: TimeFrame | null): string | null {
    const { store, window } = this.context;
    const workers = this.#workers;
    const own = sampleSpan(store.tables, window);
    const seen = [workers?.version, this.#worker, own?.startS, own?.stopS, frame?.growing, store.tables.remarks.length, store.cluster?.metrics.version, window.firstRun, window.lastRun].join(' ');
    this.#span = frame?.span ?? null;
    if (seen !== this.#seen && !(frame?.paused === true && this.#summary !== null)) {
      this.#seen = seen;
      this.#zeroS = frame?.zeroS ?? 0;
      this.#growing = frame?.growing ?? false;
      this.#seconds = store.cluster?.metrics.byPrefix(window) ?? [];
      this.#choices = this.#list(workers?.workers ?? []);
      this.#series = workers?.series(this.#worker) ?? null;
      this.#told = happenings(store.tables, this.#worker === null ? null : (workers?.workers[this.#worker]?.address ?? ''));
      this.#summary = own === null || this.#series === null ? null : summariseWorkers(this.#series, own);
    }
    return this.#summary === null ? trans.__('nothing was heard of workers during this compute') : null;
  }

  version(): string {
    return this.#seen;
  }

  isAbsent(): boolean {
    return (this.#workers?.n ?? 0) === 0;
  }

  plots(): readonly PlotSpec[] {
    const summary = this.#summary;
    if (summary !== null && summary.to - summary.from < MIN_SAMPLES) {
      return [];
    }
    const peak = summary?.peak;
    const most = Math.max(peak?.rssBytes?.value ?? 0, peak?.spilledBytes?.value ?? 0, 1);
    const limit = this.#limit;
    const top = limit !== null && limit <= most * FAR ? Math.max(limit, most) * 1.02 : most * 1.1;
    return [
      {
        title: `${trans.__('CPU')} · ${this.#wholeCpu}`,
        axis: valueAxis(Math.max(this.#cpuShare(peak?.cpuPercent?.value) ?? 0, 1), 2, formatCpu),
        heightPx: CPU_PX
      },
      {
        title: trans.__('Memory'),
        axis: valueAxis(top, 3, formatBytes),
        heightPx: MEMORY_PX
      },
      ...(peak?.tickS === null || peak?.tickS === undefined ? [] : [{
        title: this.#named(this.#lag),
        axis: valueAxis(Math.max(peak.tickS.value, MEANT_TICK_S * 5), 2, formatDuration),
        heightPx: LAG_PX
      }])
    ];
  }

  drawPlots(brush: Brush, plots: readonly Plot[]): void {
    if (this.#series !== null && this.#summary !== null) {
      drawWorkers(brush, plots, this.#series, this.#summary, percent => this.#cpuShare(percent) ?? NaN);
      drawLife(brush, plots, this.#told);
    }
  }

  readout(timeS: number): readonly string[] | null {
    const at = trans.__('at %1', formatDuration(timeS - this.#zeroS));
    const i = this.#series?.at(timeS) ?? -1;
    const happened = this.#span === null ? [] : lifeAt(this.#told, timeS, this.#span, this.#zeroS);
    if (this.#series === null || i < 0 || this.#series.nWorkers[i] === 0) {
      return [at, trans.__('no samples'), ...happened];
    }
    const series = this.#series;
    const value = (quantity: Quantity): number | null => {
      const found = series[quantity][i] as number;
      return Number.isNaN(found) ? null : found;
    };
    const [rss, managed] = [value('rssBytes'), value('managedBytes')];
    return [
      at,
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

  head(): ComponentChildren {
    const picker = (
      <div class="tsk-worker-picker">
        <select
          aria-label={trans.__('Worker')} value={this.#worker === null ? '' : `${this.#worker}`}
          onChange={({ currentTarget: { value } }) => {
            this.#worker = value === '' ? null : Number(value);
            this.context.request();
          }}
        >
          {this.#choices}
        </select>
      </div>
    );
    return <div class="tsk-series-head">{picker}{this.#summary !== null && this.#gauges(this.#summary)}</div>;
  }

  foot(): ComponentChildren {
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
    const notes = [nWorkers === 0 ? trans.__('gone') : '', to - from < MIN_SAMPLES ? trans.__('one sample') : this.#growing ? '' : trans.__('gauges show the last sample')];
    return (
      <div class="tsk-series-foot">
        <div class="tsk-worker-foot">
          {parts.map(([name, text]) => <span><span class={`tsk-worker-swatch tsk-${name}`} />{text}</span>)}
          <span>{notes.filter(note => note !== '').join(' · ')}</span>
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
      peak[quantity] === null ? '' : formatDuration(peak[quantity].timeS - this.#zeroS)
    ];
    return [{
      caption: this.label,
      columns: [trans.__('Resource'), this.#growing ? trans.__('Now') : trans.__('Last'), trans.__('Peak'), trans.__('Peak at')],
      rows: [
        row(trans.__('CPU'), 'cpuPercent', percent => this.#cpu(percent)),
        row(trans.__('Memory'), 'rssBytes', formatBytes),
        row(trans.__('Results'), 'managedBytes', formatBytes),
        row(trans.__('Spilled'), 'spilledBytes', formatBytes),
        row(trans.__('Limit'), 'limitBytes', formatBytes),
        ...this.#known.map(extra => row(this.#named(extra), extra.quantity, extra.format))
      ]
    }, ...(this.#seconds.length === 0 ? [] : [secondsTable(this.#seconds)]), ...(this.#told.length === 0 ? [] : [lifeTable(this.#told, this.#zeroS)])];
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

  #gauges({ last, peak }: WorkersSummary): ComponentChildren {
    const limit = this.#limit;
    const share = (value: number | null | undefined, of: number | null): number | null =>
      value === null || value === undefined || of === null || of === 0 ? null : value / of;
    return (
      <>
        <Gauge
          name={trans.__('CPU of workers')} value={this.#cpu(last.cpuPercent)}
          detail={trans.__('peak %1 · %2', this.#cpu(peak.cpuPercent?.value), this.#wholeCpu)}
          share={this.#cpuShare(last.cpuPercent)} peakShare={this.#cpuShare(peak.cpuPercent?.value)}
        />
        <Gauge
          name={trans.__('Memory of workers')} value={formatBytes(last.rssBytes)}
          detail={trans.__('peak %1 · limit %2', formatBytes(peak.rssBytes?.value ?? null), formatBytes(limit))}
          share={share(last.rssBytes, limit)} peakShare={share(peak.rssBytes?.value, limit)}
        />
      </>
    );
  }

  /** The workers as choices; the same elements where they are the same workers. */
  #list(workers: readonly (ClusterWorker | undefined)[]): ComponentChildren {
    const known = workers.filter(worker => worker !== undefined);
    const shown = known.slice(0, MAX_LISTED);
    const listed = [known.length, ...shown.map(({ id, name }) => `${id} ${name}`)].join('\n');
    if (listed === this.#listed) {
      return this.#choices;
    }
    this.#listed = listed;
    return [
      <option key="" value="">{trans.__('All workers (%1)', formatCount(known.length))}</option>,
      ...shown.map(({ id, name, address }) => (
        <option key={id} value={`${id}`}>
          {name === address ? printable(address, 60) : trans.__('worker %1 · %2', printable(name, 40), printable(address, 60))}
        </option>
      ))
    ];
  }
}
