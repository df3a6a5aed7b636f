/** CPU and memory of the process in which computes ran. */
import { formatBytes, formatCount, formatDuration, formatPercent } from '../../lib/format';
import { upperBound } from '../../lib/search';
import { valueAxis } from '../../lib/ticks';
import { trans } from '../../lib/translate';
import type { ShownTime } from '../timeline/time';
import type { Samples } from '../timeline/quantity';
import type { Values } from '../timeline/value-track';
import { quantityOf, sampleSpan } from '../timeline/quantity';
import { ValueTrack, bytesAxis } from '../timeline/value-track';

export class ResourcesTrack extends ValueTrack {
  readonly name = 'resources';
  override readonly inBrief = 'head';

  /** Beside the workers of a cluster it says whose CPU and memory these are. */
  get label(): string {
    const { store: { cluster } } = this.context;
    return (cluster?.workers.n ?? 0) > 0 ? trans.__('Notebook and its processes') : trans.__('CPU and memory');
  }

  protected sources(): readonly unknown[] {
    const { store: { resources, tables }, runRange } = this.context;
    const { startS, stopS, endS } = sampleSpan(tables, runRange);
    return [resources.version, resources.nCores, resources.limitBytes, startS, stopS, endS];
  }

  protected read({ growing }: ShownTime): Values | string {
    const { store: { resources, tables }, runRange } = this.context;
    const span = sampleSpan(tables, runRange);
    const range = resources.within(span);
    if (range[0] >= range[1]) {
      return growing ? trans.__('no samples yet') : trans.__('no samples of CPU and memory for this compute');
    }
    const { timeS, cpuPercent, rssBytes, nProcesses, gap, nCores, limitBytes } = resources;
    const samples: Samples = {
      timeS, range,
      continues: i => gap[i] !== 1 && !Number.isNaN(cpuPercent[i]),
      isGap: i => gap[i] === 1,
      // CPU is the mean up to a sample.
      at: at => upperBound(timeS, range[1], at)
    };
    const cpu = quantityOf(samples, {
      name: trans.__('CPU'), format: formatCpu, limit: 1, ofLimit: coresText(nCores), isMean: true, hasMean: true, endS: span.endS,
      valueAt: i => (cpuPercent[i] as number) / 100 / (nCores ?? 1),
      copied: [trans.__('CPU (% of one core)'), i => cpuPercent[i]]
    });
    const memory = quantityOf(samples, {
      name: trans.__('Memory'), format: formatBytes, limit: limitBytes, ofLimit: trans.__('limit %1', formatBytes(limitBytes)),
      valueAt: i => rssBytes[i] as number,
      mostAt: i => resources.mostBytes(i), endS: span.endS,
      copied: [trans.__('Resident memory (bytes)'), i => rssBytes[i]]
    });
    const processes = quantityOf(samples, {
      name: trans.__('Processes'), format: formatCount,
      valueAt: i => ((nProcesses[i] as number) > 1 ? (nProcesses[i] as number) : NaN),
      copied: [trans.__('Processes'), i => nProcesses[i]]
    });
    const line = { widthPx: 1.5, fill: 0.22 };
    return {
      samples,
      quantities: [cpu, memory, processes],
      plots: [
        { title: `${trans.__('CPU')} · ${coresText(nCores)}`, axis: valueAxis(Math.max(cpu.peak?.value ?? 0, 1), 2, formatCpu), heightPx: 72, lines: [{ ...cpu, ...line }], peak: cpu.peak, format: formatCpu },
        {
          title: trans.__('Memory · resident'), axis: bytesAxis(Math.max(memory.peak?.value ?? 0, 1), limitBytes), heightPx: 96, lines: [{ ...memory, ...line }],
          peak: memory.peak, limitBytes, namesFarLimit: true, format: formatBytes
        }
      ],
      notes: [gapText(samples), processText(processes.last ?? 1)]
    };
  }
}

/** CPU as a percentage, exact where `formatPercent` would only say that it is not quite all. */
export function formatCpu(share: number | null): string {
  return share === null || !(share > 1) ? formatPercent(share) : `${Math.round(share * 100)}%`;
}

/** What 100% of CPU is. */
function coresText(nCores: number | null): string {
  if (nCores === null) {
    return trans.__('100% = one core');
  }
  return trans._n('100% = the one core available', '100% = all %2 cores available', nCores, formatCount(nCores));
}

/** What was not measured; empty where all was. */
function gapText({ timeS, range: [from, to], isGap }: Samples): string {
  let [n, gapS] = [0, 0];
  for (let i = from + 1; i < to; i += 1) {
    if (isGap?.(i) === true) {
      n += 1;
      gapS += (timeS[i] as number) - (timeS[i - 1] as number);
    }
  }
  return n === 0 ? '' : trans._n(
    '%2 gap of %3 without samples (striped); a memory peak in it was not seen',
    '%2 gaps, %3 altogether, without samples (striped); a memory peak in one was not seen', n, formatCount(n), formatDuration(gapS)
  );
}

function processText(n: number): string {
  return n > 1 ? trans._n('%2 process; shared memory counted more than once', '%2 processes; shared memory counted more than once', n, formatCount(n)) : '';
}
