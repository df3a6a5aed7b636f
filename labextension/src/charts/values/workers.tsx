/** CPU and memory of a cluster's workers: of all of them together, or of one that the person chooses. */
import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { upperBound } from '../../lib/search';
import { Seen } from '../../lib/seen';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { Quantity as Measured } from '../../store';
import type { ClusterWorker } from '../../wire';
import { drawLife, happenings, lifeAt, lifeTable } from '../cluster/life';
import { Seconds, secondsTable } from '../cluster/kinds';
import { logLines } from '../cluster/logs';
import { pairCharts } from '../cluster/pairs';
import type { QuantitySpec, Samples } from '../timeline/quantity';
import type { Line, ValuePlot, Values } from '../timeline/value-track';
import { quantityOf, sampleSpan } from '../timeline/quantity';
import { VALUES_CSS, ValueTrack, bytesAxis } from '../timeline/value-track';
import type { ComponentChildren } from '../ui/render';
import { formatCpu } from './resources';

/** What distributed means the time between two ticks of an event loop to be. */
const MEANT_TICK_S = 0.02;
/** How strong the areas of results, and of all else, are. */
const STRONG = 0.45;
const WEAK = 0.16;
/** More than these no list shows; the first ones are. */
const MAX_LISTED = 2_000;

export class WorkersTrack extends ValueTrack {
  readonly name = 'workers';
  override readonly inBrief = 'head';
  override readonly css = VALUES_CSS + WORKERS_CSS;
  readonly label = trans.__('Workers of the cluster');
  /** The number of the worker that is shown; null: all of them. */
  #worker: number | null = null;
  readonly #listed = new Seen();
  #choices: ComponentChildren = null;

  isAbsent(): boolean {
    const { cluster } = this.context.store;
    return cluster === null || cluster.workers.n + cluster.activities.n + cluster.steals.version + cluster.logs.version === 0;
  }

  protected sources(): readonly unknown[] {
    const { store: { tables, cluster }, runRange } = this.context;
    const { startS, stopS, endS } = sampleSpan(tables, runRange);
    return [cluster?.workers.version, cluster?.metrics.version, cluster?.activities.version, cluster?.steals.version, cluster?.logs.version, tables.remarks, startS, stopS, endS, this.context.theme()];
  }

  protected read(): Values | string {
    const { store: { tables, cluster }, runRange } = this.context;
    const series = cluster?.workers.series(this.#worker);
    const span = sampleSpan(tables, runRange);
    const range = [span.startS, span.stopS].map(timeS => upperBound(series?.timeS ?? new Float64Array(0), series?.n ?? 0, timeS)) as [number, number];
    if (this.#worker !== null && range[0] >= range[1]) {
      this.#worker = null;
      return this.read();
    }
    const nothing = trans.__('nothing was heard of workers during this compute');
    if (cluster === null || series === undefined) {
      return nothing;
    }
    const seconds = cluster.metrics.byPrefix(runRange);
    const between = pairCharts(cluster, tables, runRange, this.zeroS);
    const address = this.#worker === null ? null : (cluster.workers.workers.get(this.#worker)?.address ?? '');
    const [told, logged] = [happenings(tables, address), logLines(cluster, [span.startS, span.stopS], address, this.zeroS)];
    const sums = {
      foot: [seconds.length > 0 && <Seconds prefixes={seconds} theme={this.context.theme()} />, ...between.map(({ squares }) => squares), ...logged.map(({ lines }) => lines)],
      tables: () => [...(seconds.length === 0 ? [] : [secondsTable(seconds)]), ...(told.length === 0 ? [] : [lifeTable(told, this.zeroS)]), ...between, ...logged]
    };
    if (range[0] >= range[1]) {
      return seconds.length + between.length + logged.length === 0 ? nothing : { ...sums, plots: [], title: nothing };
    }
    const { timeS, nWorkers } = series;
    const samples: Samples = { timeS, range, continues: i => series.continues(i), at: at => (nWorkers[series.at(at)] === 0 ? -1 : series.at(at)) };
    const valuesOf = (measured: Measured) => (i: number): number => (nWorkers[i] === 0 ? NaN : (series[measured][i] as number));
    const peakOf = (measured: Measured): number | undefined => quantityOf(samples, { name: '', format: String, valueAt: valuesOf(measured) }).peak?.value;
    const [cpuAt, rssAt, managedAt] = [valuesOf('cpuPercent'), valuesOf('rssBytes'), valuesOf('managedBytes')];
    // What CPU is a share of, as that of the notebook is of its cores; none: unknown.
    const nThreads = peakOf('nThreads') ?? 0;
    const wholeCpu = nThreads === 0 ? trans.__('100% = one core') : trans._n('100% = the one thread', '100% = all %2 threads', nThreads, formatCount(nThreads));
    const lastLimit = series.limitBytes[range[1] - 1] ?? NaN;
    const limit = Number.isNaN(lastLimit) ? (peakOf('limitBytes') ?? null) : lastLimit;
    const bytes = (name: string, valueAt: (i: number) => number, more: Partial<QuantitySpec>) => quantityOf(samples, { name, valueAt, format: formatBytes, endS: span.endS, ...more });
    const cpu = quantityOf(samples, { name: trans.__('CPU'), gauge: trans.__('CPU of workers'), limit: 1, ofLimit: wholeCpu, hasMean: true, endS: span.endS, format: formatCpu, valueAt: i => cpuAt(i) / 100 / (nThreads || 1) });
    const memory = bytes(trans.__('Memory'), rssAt, { gauge: trans.__('Memory of workers'), limit, ofLimit: trans.__('limit %1', formatBytes(limit)) });
    const results = bytes(trans.__('Results'), managedAt, { look: 'tsk-results' });
    // Where results are measured larger than the process it is 0.
    const unmanaged = bytes(trans.__('Unmanaged'), i => Math.max(rssAt(i) - managedAt(i), 0), { look: 'tsk-unmanaged' });
    const spilled = bytes(trans.__('Spilled'), valuesOf('spilledBytes'), { look: 'tsk-spilled' });
    const [tick, ...rest] = metered().map(({ measured, title, format }) => quantityOf(samples, {
      name: this.#worker === null ? trans.__('%1 (most of any)', title) : title, format, endS: span.endS, valueAt: valuesOf(measured)
    }));
    const paint: ValuePlot['paint'] = (brush, plot) => { drawLife(brush, plot, told); };
    const line = ({ valueAt }: Pick<Line, 'valueAt'>, fill = WEAK): Line => ({ valueAt, fill });
    return {
      samples,
      quantities: [cpu, memory, results, unmanaged, spilled, ...(tick === undefined ? [] : [tick]), ...rest],
      plots: [
        { paint, title: `${trans.__('CPU')} · ${wholeCpu}`, axis: valueAxis(Math.max(cpu.peak?.value ?? 0, 1), 2, formatCpu), heightPx: 64, lines: [line(cpu)], peak: cpu.peak, format: formatCpu },
        {
          paint, title: trans.__('Memory'), axis: bytesAxis(Math.max(memory.peak?.value ?? 0, spilled.peak?.value ?? 0, 1), limit), heightPx: 104,
          lines: [line(memory), line({ valueAt: i => Math.min(managedAt(i), rssAt(i)) }, STRONG), { ...line(spilled, 0), isDotted: true }],
          limitBytes: limit, peak: memory.peak, format: formatBytes
        },
        ...(tick?.peak ? [{ paint, title: tick.name, axis: valueAxis(Math.max(tick.peak.value, MEANT_TICK_S * 5), 2, formatDuration), heightPx: 40, lines: [line(tick)], format: formatDuration }] : [])
      ],
      readings: (at, i) => [
        ...lifeAt(told, at, this.context.navigator.time?.span ?? span, this.zeroS),
        ...(this.#worker === null && i >= 0 ? [trans._n('%2 worker', '%2 workers', nWorkers[i] as number, formatCount(nWorkers[i] as number))] : [])
      ],
      head: this.#picker(cluster.workers.workers),
      notes: [nWorkers[range[1] - 1] === 0 ? trans.__('gone') : ''],
      ...sums
    };
  }

  #picker(workers: ReadonlyMap<number, ClusterWorker>): ComponentChildren {
    const shown = [...workers.values()].slice(0, MAX_LISTED);
    if (this.#listed.isNew(workers.size, ...shown)) {
      this.#choices = [
        <option key="" value="">{trans.__('All workers (%1)', formatCount(workers.size))}</option>,
        ...shown.map(({ worker, name, address }) => (
          <option key={worker} value={`${worker}`}>
            {name === address ? printable(address, 60) : trans.__('worker %1 · %2', printable(name, 40), printable(address, 60))}
          </option>
        ))
      ];
    }
    return (
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
  }
}

/** What is metered besides CPU and memory, by some workers; first the time between ticks of the event loop. */
function metered(): readonly { readonly measured: Measured; readonly title: string; readonly format: (value: number | null) => string }[] {
  const perSecond = (bps: number | null): string => trans.__('%1/s', formatBytes(bps));
  return [
    { measured: 'tickS', title: trans.__('Event loop, between ticks'), format: formatDuration },
    { measured: 'gilContention', title: trans.__('Lock contention'), format: formatPercent },
    { measured: 'netReadBps', title: trans.__('Machine: received'), format: perSecond },
    { measured: 'netWriteBps', title: trans.__('Machine: sent'), format: perSecond },
    { measured: 'diskReadBps', title: trans.__('Machine: read from disk'), format: perSecond },
    { measured: 'diskWriteBps', title: trans.__('Machine: written to disk'), format: perSecond },
    { measured: 'nFds', title: trans.__('File descriptors'), format: formatCount },
    { measured: 'gpuPercent', title: trans.__('GPU'), format: value => formatPercent(value === null ? null : value / 100) },
    { measured: 'gpuBytes', title: trans.__('GPU memory'), format: formatBytes }
  ];
}

const WORKERS_CSS = `
.tsk-worker-picker { flex: 1 0 100%; }
.tsk-chart[data-part='head'] .tsk-worker-picker { display: none; }
.tsk-worker-picker select {
  max-width: min(320px, 100%); height: 26px; border: 1px solid var(--tsk-line); border-radius: 3px;
  background: var(--tsk-paper); color: var(--tsk-ink); font: inherit;
}
.tsk-swatch:is(.tsk-results, .tsk-unmanaged, .tsk-spilled) { border-radius: 0; border-top: 1.5px solid var(--tsk-accent); }
.tsk-swatch:is(.tsk-results, .tsk-unmanaged) { background: color-mix(in srgb, var(--tsk-accent) 16%, transparent); }
.tsk-swatch.tsk-results { background: color-mix(in srgb, var(--tsk-accent) 52%, transparent); }
.tsk-swatch.tsk-spilled { border-top-style: dotted; }
:is(.tsk-seconds, .tsk-pairs, .tsk-logs) { padding-top: 6px; }
.tsk-logs > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-seconds-title { color: var(--tsk-ink); font-weight: 600; }
.tsk-seconds-row { display: flex; align-items: center; gap: 8px; min-width: 0; height: 18px; }
.tsk-seconds-prefix { flex: 0 1 18ch; min-width: 6ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--tsk-ink); }
.tsk-seconds-bar { flex: 1 1 0; display: flex; min-width: 0; height: 12px; }
.tsk-seconds-bar > span { flex: none; height: 100%; forced-color-adjust: none; }
.tsk-seconds-total { flex: 0 0 8ch; text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tsk-pairs { overflow-x: auto; }
.tsk-pairs td { min-width: 12px; height: 16px; padding-inline: 3px; text-align: end; forced-color-adjust: none; }
:is(.tsk-pairs[data-many='true'] td, .tsk-pairs td:first-child) { white-space: nowrap; }
.tsk-pairs td:first-child { max-width: 18ch; overflow: hidden; text-overflow: ellipsis; }
.tsk-pairs [title] { color: var(--tsk-ink); }
@container (max-width: 700px) { .tsk-pairs[data-many='true'] span { display: none; } }
.tsk-worker-picker select:focus-visible { outline: 2px solid var(--tsk-accent); }
`;
