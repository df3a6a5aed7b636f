/** CPU and memory of a cluster's workers: of all of them together, or of one that the person chooses. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import type { Span } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import { valueAxis } from '../../lib/value-ticks';
import type { Quantity, RunWindow, TaskStore, WorkerSeries, WorkerStore } from '../../store';
import { Gauge } from '../resources/gauge';
import { RESOURCES_CSS } from '../resources/style';
import { sampleSpan } from '../resources/summary';
import { formatCpu } from '../resources/words';
import type { Brush } from '../series/canvas';
import type { PlotSpec } from '../series/layout';
import type { SeriesParts } from '../series/parts';
import type { SeriesContent } from '../series/view';
import { element, setText } from '../ui/dom';
import type { TextTable } from '../ui/text-table';
import { fillTable } from '../ui/text-table';
import type { TimeFrame } from '../ui/time-frame';
import { WORKERS_CSS } from './style';
import { WorkerPicker } from './worker-picker';
import { drawWorkers } from './workers-draw';
import type { WorkersSummary } from './workers-summary';
import { summariseWorkers, unmanagedBytes } from './workers-summary';

const CPU_PX = 64;
const MEMORY_PX = 104;
/** A limit beyond so many peaks is told in words only: on the scale it would press the history flat. */
const FAR = 4;

const cores = (percent: number | null | undefined): string => formatCpu(percent === null || percent === undefined ? null : percent / 100);

export class WorkersContent implements SeriesContent {
  readonly name = 'workers';
  readonly css = RESOURCES_CSS + WORKERS_CSS;
  readonly label: string;
  readonly #cpu: Gauge;
  readonly #memory: Gauge;
  readonly #notes = element('p');
  #picker: WorkerPicker | null = null;
  #parts: SeriesParts | null = null;
  #own: Span | null = null;
  #series: WorkerSeries | null = null;
  #summary: WorkersSummary | null = null;
  #zeroS = 0;
  #seen = '';
  #table: TextTable | null = null;

  constructor(
    private readonly store: TaskStore,
    private readonly workers: () => WorkerStore | undefined,
    private readonly window: RunWindow,
    private readonly t: Translate
  ) {
    this.label = t('Workers of the cluster');
    this.#cpu = new Gauge(t('CPU of workers'));
    this.#memory = new Gauge(t('Memory of workers'));
  }

  build(parts: SeriesParts, request: () => void, signal: AbortSignal): void {
    this.#parts = parts;
    this.#picker = new WorkerPicker(request, signal, this.t);
    parts.head.append(this.#picker.el, this.#cpu.el, this.#memory.el);
    parts.foot.append(this.#notes);
    // Until there is a cluster, there is nothing to say.
    parts.root.hidden = true;
  }

  describe(frame: TimeFrame | null): string | null {
    this.#refresh(frame);
    if (this.#parts !== null) {
      this.#parts.root.hidden = (this.workers()?.n ?? 0) === 0;
      this.#parts.foot.hidden = this.#summary === null;
    }
    return this.#summary === null ? this.t('nothing was heard of workers during this compute') : null;
  }

  plots(): readonly PlotSpec[] {
    const { t } = this;
    const peak = this.#summary?.peak;
    const most = Math.max(peak?.rssBytes?.value ?? 0, peak?.spilledBytes?.value ?? 0, 1);
    const limit = this.#limit;
    const top = limit !== null && limit <= most * FAR ? Math.max(limit, most) * 1.02 : most * 1.1;
    return [
      {
        title: t('CPU · 100% = one core'),
        axis: valueAxis(Math.max((peak?.cpuPercent?.value ?? 0) / 100, 1), 2, formatCpu),
        heightPx: CPU_PX
      },
      {
        title: t('Memory · dark: results, light: the rest of the processes, dotted: spilled to disk'),
        axis: valueAxis(top, 3, formatBytes),
        heightPx: MEMORY_PX
      }
    ];
  }

  draw(brush: Brush): void {
    if (this.#series !== null && this.#summary !== null) {
      drawWorkers(brush, this.#series, this.#summary, this.t);
    }
  }

  readout(timeS: number): readonly string[] | null {
    const { t } = this;
    const at = t('at %1', formatDuration(timeS - this.#zeroS));
    const i = this.#series?.at(timeS) ?? -1;
    if (this.#series === null || i < 0 || this.#series.nWorkers[i] === 0) {
      return [at, t('no samples')];
    }
    const { values, nWorkers } = this.#series;
    const value = (quantity: Quantity): number | null => {
      const found = values[quantity][i] as number;
      return Number.isNaN(found) ? null : found;
    };
    const [rss, managed] = [value('rssBytes'), value('managedBytes')];
    return [
      at,
      ...(this.#picker?.worker === null ? [t('%1 workers', formatCount(nWorkers[i] as number))] : []),
      t('CPU %1', cores(value('cpuPercent'))),
      t('memory %1', formatBytes(rss)),
      t('results %1', formatBytes(managed)),
      t('unmanaged %1', formatBytes(unmanagedBytes(rss, managed))),
      t('spilled %1', formatBytes(value('spilledBytes')))
    ];
  }

  title(): string {
    return this.label;
  }

  legend(): readonly [] {
    return [];
  }

  tables(): readonly TextTable[] {
    return this.#table === null ? [] : [this.#table];
  }

  get #limit(): number | null {
    return this.#summary?.last.limitBytes ?? this.#summary?.peak.limitBytes?.value ?? null;
  }

  #refresh(frame: TimeFrame | null): void {
    const workers = this.workers();
    const span = sampleSpan(this.store.tables, this.window);
    const seen = [workers?.version, this.#picker?.worker, span?.startS, span?.stopS, frame?.growing].join(' ');
    if (seen === this.#seen || (frame?.held === true && this.#summary !== null)) {
      return;
    }
    this.#seen = seen;
    this.#own = span;
    this.#zeroS = frame?.zeroS ?? 0;
    this.#picker?.refresh(workers?.workers ?? []);
    this.#series = workers?.series(this.#picker?.worker ?? null) ?? null;
    this.#summary = this.#own === null || this.#series === null ? null : summariseWorkers(this.#series, this.#own);
    if (this.#summary !== null) {
      this.#tell(this.#summary, frame?.growing ?? false);
    }
  }

  #tell(summary: WorkersSummary, growing: boolean): void {
    const { t } = this;
    const { last, peak, nWorkers } = summary;
    const limit = this.#limit;
    const nThreads = last.nThreads ?? peak.nThreads?.value ?? null;
    const ofAll = (percent: number | null | undefined): number | null =>
      percent === null || percent === undefined || nThreads === null || nThreads === 0 ? null : percent / 100 / nThreads;
    const ofLimit = (bytes: number | null | undefined): number | null =>
      bytes === null || bytes === undefined || limit === null ? null : bytes / limit;
    this.#cpu.set({
      value: cores(last.cpuPercent),
      detail: t('peak %1 · %2 threads', cores(peak.cpuPercent?.value), nThreads === null ? '?' : formatCount(nThreads)),
      share: ofAll(last.cpuPercent),
      peakShare: ofAll(peak.cpuPercent?.value)
    });
    this.#memory.set({
      value: formatBytes(last.rssBytes),
      detail: t('peak %1 · limit %2', formatBytes(peak.rssBytes?.value ?? null), formatBytes(limit)),
      share: ofLimit(last.rssBytes),
      peakShare: ofLimit(peak.rssBytes?.value)
    });
    const unmanaged = unmanagedBytes(last.rssBytes, last.managedBytes);
    const notes = [
      nWorkers === 0 ? t('gone') : '',
      t('results %1 · unmanaged %2 · spilled %3', formatBytes(last.managedBytes), formatBytes(unmanaged), formatBytes(last.spilledBytes)),
      growing ? '' : t('gauges show the last sample')
    ];
    setText(this.#notes, notes.filter(note => note !== '').join(' · '));
    this.#parts?.canvas.setAttribute('aria-label', t('CPU and memory of workers over time; its table has the numbers'));
    this.#table = this.#tableOf(summary, growing);
    if (this.#parts !== null) {
      fillTable(this.#parts.table, this.#table);
    }
  }

  #tableOf({ last, peak }: WorkersSummary, growing: boolean): TextTable {
    const { t } = this;
    const row = (name: string, quantity: Quantity, format: (value: number | null) => string): string[] => [
      name, format(last[quantity]), format(peak[quantity]?.value ?? null),
      peak[quantity] === null ? '' : formatDuration(peak[quantity].timeS - this.#zeroS)
    ];
    return {
      caption: this.label,
      columns: [t('Resource'), growing ? t('Now') : t('Last'), t('Peak'), t('Peak at')],
      rows: [
        row(t('CPU'), 'cpuPercent', cores),
        row(t('Memory'), 'rssBytes', formatBytes),
        row(t('Results'), 'managedBytes', formatBytes),
        row(t('Spilled'), 'spilledBytes', formatBytes),
        row(t('Limit'), 'limitBytes', formatBytes)
      ]
    };
  }
}
