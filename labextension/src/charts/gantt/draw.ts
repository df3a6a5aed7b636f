/** The Gantt chart on a canvas: bars as pixels, everything else as canvas text and lines above them. */
import { clamp } from '../../lib/span';
import type { TaskStore } from '../../store';
import { paintAxis } from './axis';
import { paintBarTexts } from './bar-texts';
import { paintFlags } from './flags';
import { paintGutter } from './gutter';
import type { GanttLayout } from './layout';
import { paintOutlines } from './outlines';
import type { BarLayer } from './bar-layer';
import type { Picture } from './picture';
import { Plot } from './plot';
import { TextFitter } from './text-fitter';

export class GanttPainter {
  readonly #context: CanvasRenderingContext2D | null;
  readonly #texts = new TextFitter();
  readonly #plot: Plot;

  constructor(private readonly canvas: HTMLCanvasElement, layer: BarLayer | null) {
    this.#plot = new Plot(layer);
    this.#context = canvas.getContext('2d', { alpha: false });
  }

  /** Whether the picture is not exact yet: it should be painted again when nothing moves. */
  get rough(): boolean {
    return this.#plot.rough;
  }

  /** Whether the next frame goes on with it. */
  get unfinished(): boolean {
    return this.#plot.unfinished;
  }

  paint(store: TaskStore, picture: Picture): void {
    const context = this.#context;
    if (context === null) {
      return;
    }
    const { layout, theme } = picture;
    const ratio = clamp(globalThis.devicePixelRatio || 1, 1, 3);
    this.#resize(layout, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const measured = this.#plot.paint(context, store, picture, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `11px ${theme.font}`;
    context.textBaseline = 'middle';
    paintBarTexts(context, store, picture, this.#texts);
    paintFlags(context, picture, measured, ratio);
    picture.overlay?.(context, picture);
    paintOutlines(context, picture);
    paintGutter(context, picture, this.#texts);
    paintAxis(context, picture);
  }

  #resize({ widthPx, heightPx }: GanttLayout, ratio: number): void {
    const width = Math.round(widthPx * ratio);
    const height = Math.round(heightPx * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.style.width = `${widthPx}px`;
      this.canvas.style.height = `${heightPx}px`;
    }
  }
}
