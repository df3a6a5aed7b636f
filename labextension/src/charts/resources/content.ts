/** CPU and memory of some computes: gauges, history, and the same in words. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import type { Translate } from '../../lib/translate';
import { valueAxis } from '../../lib/value-ticks';
import type { RunWindow, TaskStore } from '../../store';
import type { Brush } from '../series/canvas';
import type { PlotSpec } from '../series/layout';
import type { SeriesParts } from '../series/parts';
import type { SeriesContent } from '../series/view';
import { element, setText } from '../ui/dom';
import type { TextTable } from '../ui/text-table';
import { fillTable } from '../ui/text-table';
import type { TimeFrame } from '../ui/time-frame';
import { drawResources } from './draw';
import { Gauge } from './gauge';
import { RESOURCES_CSS } from './style';
import type { ResourceSummary } from './summary';
import { cpuShareOf, sampleSpan, summariseResources } from './summary';
import { coresText, formatCpu, gapText, labelText, processText, sampleTable, summaryText, tableRows } from './words';

const CPU_PX = 72;
const MEMORY_PX = 96;
/** A limit beyond so many peaks is named at the edge: on the scale it would press the history flat. */
const FAR = 4;

export class ResourcesContent implements SeriesContent {
  readonly name = 'resources';
  readonly css = RESOURCES_CSS;
  readonly label: string;
  readonly #cpu: Gauge;
  readonly #memory: Gauge;
  readonly #notes = element('p');
  #parts: SeriesParts | null = null;
  #own: Span | null = null;
  #summary: ResourceSummary | null = null;
  #zeroS = 0;
  #seen = '';
  #table: TextTable | null = null;

  constructor(
    private readonly store: TaskStore,
    private readonly window: RunWindow,
    private readonly t: Translate
  ) {
    this.label = t('CPU and memory');
    this.#cpu = new Gauge(t('CPU'));
    this.#memory = new Gauge(t('Memory'));
  }

  build(parts: SeriesParts): void {
    this.#parts = parts;
    parts.head.append(this.#cpu.el, this.#memory.el);
    parts.foot.append(this.#notes);
  }

  describe(frame: TimeFrame | null): string | null {
    this.#refresh(frame);
    const { head, foot } = this.#parts ?? {};
    const nothing = this.#nothing(frame);
    if (head !== undefined && foot !== undefined) {
      head.hidden = foot.hidden = nothing !== null;
    }
    return nothing;
  }

  plots(): readonly PlotSpec[] {
    const { t } = this;
    const summary = this.#summary;
    const most = Math.max(summary?.rssPeak.value ?? 0, 1);
    const limit = summary?.limitBytes ?? null;
    const cores = summary === null ? '' : coresText(summary, t);
    return [
      {
        title: `${t('CPU')} · ${cores}`,
        axis: valueAxis(Math.max(summary?.cpuPeak?.value ?? 0, 1), 2, formatCpu),
        heightPx: CPU_PX
      },
      {
        title: t('Memory · resident'),
        axis: valueAxis(limit !== null && limit <= most * FAR ? Math.max(limit, most) * 1.02 : most * 1.1, 3, formatBytes),
        heightPx: MEMORY_PX
      }
    ];
  }

  draw(brush: Brush): void {
    if (this.#own !== null && this.#summary !== null) {
      drawResources(brush, this.store.resources, this.#own, this.#summary, this.t);
    }
  }

  /** The sample that stands for a time: CPU is the mean up to it. */
  readout(timeS: number): readonly string[] | null {
    const { resources } = this.store;
    const [from, to] = resources.within(this.#own ?? { startS: 0, stopS: -1 });
    const i = upperBound(resources.timeS, to, timeS);
    const { t } = this;
    const at = t('at %1', formatDuration(timeS - this.#zeroS));
    if (i <= from || i >= to || (Number.isNaN(resources.cpuPercent[i]) && i > from)) {
      return [at, t('no samples')];
    }
    const cpu = t('CPU %1', formatCpu(cpuShareOf(resources, i)));
    if (resources.gap[i] === 1) {
      const gapS = (resources.timeS[i] as number) - (resources.timeS[i - 1] as number);
      return [at, t('no samples for %1', formatDuration(gapS)), t('%1 on average over the gap', cpu)];
    }
    const n = resources.nProcesses[i] ?? 1;
    const processes = n > 1 ? [t('%1 processes', formatCount(n))] : [];
    return [at, cpu, t('memory %1', formatBytes(resources.rssBytes[i] ?? null)), ...processes];
  }

  title(): string {
    return this.#summary === null ? this.label : summaryText(this.#summary, false, this.t);
  }

  legend(): readonly [] {
    return [];
  }

  tables(): readonly TextTable[] {
    const samples = this.#own === null ? [] : [sampleTable(this.store.resources, this.#own, this.#zeroS, this.t)];
    return this.#table === null ? [] : [this.#table, ...samples];
  }

  #nothing(frame: TimeFrame | null): string | null {
    if (this.#summary !== null) {
      return null;
    }
    if (frame === null) {
      return this.t('waiting for the first compute');
    }
    return frame.growing ? this.t('no samples yet') : this.t('no samples of CPU and memory for this compute');
  }

  #refresh(frame: TimeFrame | null): void {
    const span = sampleSpan(this.store.tables, this.window);
    const seen = `${this.store.resources.version} ${span?.startS ?? ''} ${span?.stopS ?? ''} ${String(frame?.growing)} ${this.window.firstRun}`;
    // While time is held, words that were said before stand.
    if (seen === this.#seen || (frame?.held === true && this.#summary !== null)) {
      return;
    }
    this.#seen = seen;
    this.#own = span;
    this.#zeroS = frame?.zeroS ?? 0;
    this.#summary = span === null ? null : summariseResources(this.store.resources, span);
    if (this.#summary !== null) {
      this.#tell(this.#summary, frame?.growing ?? false);
    }
  }

  #tell(summary: ResourceSummary, growing: boolean): void {
    const { t } = this;
    const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
    const ofLimit = (bytes: number): number | null => (limitBytes === null ? null : bytes / limitBytes);
    this.#cpu.set({
      value: formatCpu(cpuShare),
      detail: t('peak %1 · %2', formatCpu(cpuPeak?.value ?? null), coresText(summary, t)),
      share: cpuShare,
      peakShare: cpuPeak?.value ?? null
    });
    this.#memory.set({
      value: formatBytes(rssBytes),
      detail: t('peak %1 · limit %2', formatBytes(rssPeak.value), formatBytes(limitBytes)),
      share: ofLimit(rssBytes),
      peakShare: ofLimit(rssPeak.value)
    });
    const notes = [growing ? '' : t('gauges show the last sample'), gapText(summary, t), processText(summary, t)];
    setText(this.#notes, notes.filter(note => note !== '').join(' · '));
    this.#parts?.canvas.setAttribute('aria-label', labelText(summary, growing, t));
    if (this.#parts !== null) {
      const columns = [t('Resource'), growing ? t('Now') : t('Last'), t('Peak'), t('Peak at'), t('Limit')];
      this.#table = { caption: t('CPU and memory'), columns, rows: tableRows(summary, this.#zeroS, t) };
      fillTable(this.#parts.table, this.#table);
    }
  }
}
