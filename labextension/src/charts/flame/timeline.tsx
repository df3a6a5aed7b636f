/** When samples were taken: a strip to choose a time on, by pointer or by keys. */
import { formatDuration } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import { trans } from '../../lib/translate';
import { fitCanvas } from '../ui/canvas';
import { pointOf } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { FlameData } from './data';

const HEIGHT_PX = 36;

export type Bins = readonly [first: number, end: number];

/** Seconds of samples in each bin. */
export function secondsByBin(data: FlameData, prefix: number | null): Float64Array {
  const sums = new Float64Array(data.startS.length);
  for (let row = 0; row < data.bin.length; row += 1) {
    if (prefix === null || data.prefix[row] === prefix) {
      const bin = data.bin[row] as number;
      sums[bin] = (sums[bin] as number) + (data.seconds[row] as number);
    }
  }
  return sums;
}

/** The chosen bins after more samples came; null where the bins are now other ones. */
export function keptBins(before: FlameData, now: FlameData, chosen: Bins | null): Bins | null {
  if (chosen === null) {
    return null;
  }
  const [first, end] = chosen;
  const isSame = (bin: number): boolean => before.startS[bin] === now.startS[bin];
  return isSame(first) && (end === before.startS.length ? end <= now.startS.length : isSame(end)) ? chosen : null;
}

/** What a key makes of the chosen bins; undefined for keys without meaning here. */
export function binsByKey(key: string, shift: boolean, chosen: Bins | null, n: number): Bins | null | undefined {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (key === 'Escape') {
    return null;
  }
  if (step === undefined || n === 0) {
    return undefined;
  }
  const [first, end] = chosen ?? (step > 0 ? [-1, 0] : [n, n + 1]);
  if (shift) {
    return [Math.max(first, 0), Math.min(Math.max(end + step, Math.max(first, 0) + 1), n)];
  }
  const moved = Math.min(Math.max(first + step, 0), n - (end - first));
  return [moved, moved + end - first];
}

export class Timeline {
  #canvas: HTMLCanvasElement | null = null;
  #sums: Float64Array = new Float64Array(0);
  #data: FlameData | null = null;
  #chosen: Bins | null = null;
  #from: number | null = null;

  constructor(
    private readonly choose: (bins: Bins | null) => void
  ) {}

  show(data: FlameData, prefix: number | null, chosen: Bins | null): void {
    this.#data = data;
    this.#sums = secondsByBin(data, prefix);
    this.#chosen = chosen;
  }

  render(): ComponentChildren {
    const label = trans.__('Timeline of samples. Left and right choose a time, with Shift its length; Escape chooses all');
    return (
      <div class="tsk-flame-time" hidden={(this.#data?.startS.length ?? 0) < 2}>
        <div class="tsk-flame-time-title">{trans.__('Samples over time')} <span class="tsk-flame-chosen" role="status">{this.#chosen === null ? trans.__('all of the time') : this.#spanText(this.#chosen)}</span></div>
        <canvas
          class="tsk-flame-timeline" tabIndex={0} role="application" aria-label={label} ref={el => { this.#canvas = el; }}
          onPointerDown={this.#begin} onPointerMove={this.#drag} onPointerUp={this.#end} onPointerCancel={this.#end} onKeyDown={this.#onKey}
        />
      </div>
    );
  }

  paint(theme: Theme, widthPx: number, ratio: number): void {
    const canvas = this.#canvas;
    if (canvas === null) {
      return;
    }
    fitCanvas(canvas, widthPx, HEIGHT_PX, ratio);
    const context = canvas.getContext('2d');
    const n = this.#sums.length;
    if (context === null || n === 0) {
      return;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.lane;
    context.fillRect(0, 0, widthPx, HEIGHT_PX);
    const most = Math.max(...this.#sums, 1e-9);
    this.#sums.forEach((seconds, bin) => {
      const height = (seconds / most) * (HEIGHT_PX - 4);
      const isChosen = this.#chosen === null || (bin >= this.#chosen[0] && bin < this.#chosen[1]);
      context.fillStyle = isChosen ? theme.accent : theme.faint;
      context.fillRect((bin / n) * widthPx, HEIGHT_PX - height, Math.max(widthPx / n - 1, 0.5), height);
    });
    if (this.#chosen !== null) {
      context.strokeStyle = theme.ink;
      context.lineWidth = 1;
      const [first, end] = this.#chosen;
      context.strokeRect((first / n) * widthPx + 0.5, 0.5, ((end - first) / n) * widthPx - 1, HEIGHT_PX - 1);
    }
  }

  #spanText([first, end]: Bins): string {
    const starts = this.#data?.startS ?? new Float64Array(0);
    const at = (bin: number): string => formatDuration((starts[bin] ?? 0) - (starts[0] ?? 0));
    return end < starts.length
      ? trans.__('from %1 to %2', at(first), at(end))
      : trans.__('from %1 to the end', at(first));
  }

  #binAt(event: MouseEvent): number {
    const canvas = event.currentTarget as HTMLCanvasElement;
    const share = pointOf(canvas, event).xPx / Math.max(canvas.getBoundingClientRect().width, 1);
    return Math.min(Math.max(Math.floor(share * this.#sums.length), 0), this.#sums.length - 1);
  }

  readonly #begin = (event: PointerEvent): void => {
    this.#canvas?.setPointerCapture(event.pointerId);
    this.#from = this.#binAt(event);
    this.choose([this.#from, this.#from + 1]);
  };

  readonly #drag = (event: PointerEvent): void => {
    if (this.#from !== null) {
      const to = this.#binAt(event);
      this.choose([Math.min(this.#from, to), Math.max(this.#from, to) + 1]);
    }
  };

  readonly #end = (event: PointerEvent): void => {
    if (event.type === 'pointerup') {
      this.#drag(event);
    }
    this.#from = null;
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const bins = binsByKey(event.key, event.shiftKey, this.#chosen, this.#sums.length);
    if (bins !== undefined) {
      event.preventDefault();
      this.choose(bins);
    }
  };
}
