/** CPU and memory of some computes: gauges, history, and the same in words. */
import { formatBytes, formatCount, formatDuration } from '../../lib/format';
import { upperBound } from '../../lib/search';
import type { Span } from '../../lib/span';
import { clamp } from '../../lib/span';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { Brush, Plot, PlotSpec } from '../timeline/drawing';
import { PlotTrack } from '../timeline/plot-track';
import type { TimeFrame } from '../timeline/time';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import { drawResources } from './draw';
import type { ResourceSummary } from './summary';
import { coresText, cpuShareOf, formatCpu, gapText, labelText, processText, sampleSpan, sampleTable, summariseResources, summaryText, tableRows } from './summary';

const CPU_PX = 72;
const MEMORY_PX = 96;
/** One sample is no history: the gauges say all of it. */
export const MIN_SAMPLES = 2;
/** A limit beyond so many peaks is named at the edge: on the scale it would press the history flat. */
const FAR = 4;

export class ResourcesTrack extends PlotTrack {
  readonly name = 'resources';
  override readonly inBrief = 'head';
  override readonly css = RESOURCES_CSS;
  #own: Span | null = null;
  #summary: ResourceSummary | null = null;
  #growing = false;
  #zeroS = 0;
  #seen = '';

  /** Beside the workers of a cluster it says whose CPU and memory these are. */
  get label(): string {
    const { store: { cluster } } = this.context;
    return (cluster?.workers.n ?? 0) > 0 ? trans.__('Notebook and its processes') : trans.__('CPU and memory');
  }

  update(frame: TimeFrame | null): string | null {
    const { store, window } = this.context;
    const span = sampleSpan(store.tables, window);
    const seen = `${store.resources.version} ${span?.startS ?? ''} ${span?.stopS ?? ''} ${String(frame?.growing)} ${window.id}`;
    // While time is paused, words that were said before stand.
    if (seen !== this.#seen && !(frame?.paused === true && this.#summary !== null)) {
      this.#seen = seen;
      this.#own = span;
      this.#zeroS = frame?.zeroS ?? 0;
      this.#growing = frame?.growing ?? false;
      this.#summary = span === null ? null : summariseResources(store.resources, span);
    }
    if (this.#summary !== null) {
      return null;
    }
    if (frame === null) {
      return trans.__('waiting for the first compute');
    }
    return frame.growing ? trans.__('no samples yet') : trans.__('no samples of CPU and memory for this compute');
  }

  version(): string {
    return this.#seen;
  }

  plots(): readonly PlotSpec[] {
    const summary = this.#summary;
    if (summary !== null && summary.n < MIN_SAMPLES) {
      return [];
    }
    const most = Math.max(summary?.rssPeak.value ?? 0, 1);
    const limit = summary?.limitBytes ?? null;
    const cores = summary === null ? '' : coresText(summary);
    return [
      {
        title: `${trans.__('CPU')} · ${cores}`,
        axis: valueAxis(Math.max(summary?.cpuPeak?.value ?? 0, 1), 2, formatCpu),
        heightPx: CPU_PX
      },
      {
        title: trans.__('Memory · resident'),
        axis: valueAxis(limit !== null && limit <= most * FAR ? Math.max(limit, most) * 1.02 : most * 1.1, 3, formatBytes),
        heightPx: MEMORY_PX
      }
    ];
  }

  drawPlots(brush: Brush, plots: readonly Plot[]): void {
    const { store } = this.context;
    if (this.#own !== null && this.#summary !== null) {
      drawResources(brush, plots, store.resources, this.#own, this.#summary);
    }
  }

  /** The sample that stands for a time: CPU is the mean up to it. */
  readout(timeS: number): readonly string[] | null {
    const { store: { resources } } = this.context;
    const [from, to] = resources.within(this.#own ?? { startS: 0, stopS: -1 });
    const i = upperBound(resources.timeS, to, timeS);
    const at = trans.__('at %1', formatDuration(timeS - this.#zeroS));
    if (i <= from || i >= to || (Number.isNaN(resources.cpuPercent[i]) && i > from)) {
      return [at, trans.__('no samples')];
    }
    const cpu = trans.__('CPU %1', formatCpu(cpuShareOf(resources, i)));
    if (resources.gap[i] === 1) {
      const gapS = (resources.timeS[i] as number) - (resources.timeS[i - 1] as number);
      return [at, trans.__('no samples for %1', formatDuration(gapS)), trans.__('%1 on average over the gap', cpu)];
    }
    const n = resources.nProcesses[i] ?? 1;
    const processes = n > 1 ? [trans._n('%2 process', '%2 processes', n, formatCount(n))] : [];
    return [at, cpu, trans.__('memory %1', formatBytes(resources.rssBytes[i] ?? null)), ...processes];
  }

  head(): ComponentChildren {
    const summary = this.#summary;
    if (summary === null) {
      return null;
    }
    const { cpuShare, cpuPeak, rssBytes, rssPeak, limitBytes } = summary;
    const ofLimit = (bytes: number): number | null => (limitBytes === null ? null : bytes / limitBytes);
    return (
      <div class="tsk-series-head">
        <Gauge
          name={trans.__('CPU')} value={formatCpu(cpuShare)} detail={trans.__('peak %1 · %2', formatCpu(cpuPeak?.value ?? null), coresText(summary))}
          share={cpuShare} peakShare={cpuPeak?.value ?? null}
        />
        <Gauge
          name={trans.__('Memory')} value={formatBytes(rssBytes)} detail={trans.__('peak %1 · limit %2', formatBytes(rssPeak.value), formatBytes(limitBytes))}
          share={ofLimit(rssBytes)} peakShare={ofLimit(rssPeak.value)}
        />
      </div>
    );
  }

  foot(): ComponentChildren {
    const summary = this.#summary;
    if (summary === null) {
      return null;
    }
    const notes = [summary.n < MIN_SAMPLES ? trans.__('one sample') : this.#growing ? '' : trans.__('gauges show the last sample'), gapText(summary), processText(summary)];
    return <div class="tsk-series-foot"><p>{notes.filter(note => note !== '').join(' · ')}</p></div>;
  }

  override title(): string {
    return this.#summary === null ? this.label : summaryText(this.#summary, false);
  }

  description(): string {
    return this.#summary === null ? this.label : labelText(this.#summary, this.#growing);
  }

  tables(): readonly TextTable[] {
    if (this.#summary === null) {
      return [];
    }
    const columns = [trans.__('Resource'), this.#growing ? trans.__('Now') : trans.__('Last'), trans.__('Peak'), trans.__('Peak at'), trans.__('Limit')];
    return [{ caption: trans.__('CPU and memory'), columns, rows: tableRows(this.#summary, this.#zeroS) }];
  }

  override copied(): readonly TextTable[] {
    const { store } = this.context;
    return [...this.tables(), ...(this.#own === null ? [] : [sampleTable(store.resources, this.#own, this.#zeroS)])];
  }
}

export interface GaugeReading {
  readonly name: string;
  readonly value: string;
  /** What else there is to say: peak, limit. */
  readonly detail: string;
  /** Parts of the limit, 0 to 1; null: unknown. */
  readonly share: number | null;
  readonly peakShare: number | null;
}

export function Gauge({ name, value, detail, share, peakShare }: GaugeReading): ComponentChildren {
  const percent = clamp((share ?? 0) * 100, 0, 100);
  return (
    <div class="tsk-gauge">
      <div>
        <span class="tsk-gauge-name">{name}</span><span class="tsk-gauge-value">{value}</span><span class="tsk-gauge-detail">{detail}</span>
      </div>
      <div
        class="tsk-gauge-bar" role="meter" aria-label={name} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(percent)}
        aria-valuetext={`${value}, ${detail}`}
      >
        <div class="tsk-gauge-fill" style={{ width: `${percent}%` }} />
        <div class="tsk-gauge-mark" hidden={peakShare === null} style={{ left: `${clamp((peakShare ?? 0) * 100, 0, 100)}%` }} />
      </div>
    </div>
  );
}

export const RESOURCES_CSS = `
.tsk-gauge { flex: 1 1 220px; min-width: 0; max-width: 460px; }
.tsk-gauge > div:first-child { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: 8px; }
.tsk-gauge-name { font-weight: 600; }
.tsk-gauge-value { font-weight: 600; }
.tsk-gauge-detail { color: var(--tsk-faint); }
.tsk-gauge-bar {
  position: relative; height: 8px; margin: 2px 0; border: 1px solid var(--tsk-line); border-radius: 2px;
  background: color-mix(in srgb, var(--tsk-ink) 7%, var(--tsk-paper));
}
.tsk-gauge-fill { height: 100%; background: var(--tsk-accent); forced-color-adjust: none; }
.tsk-gauge-mark { position: absolute; top: -3px; bottom: -3px; width: 2px; margin-left: -1px; background: var(--tsk-ink); forced-color-adjust: none; }
`;
