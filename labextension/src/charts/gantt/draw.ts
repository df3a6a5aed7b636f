/** The Gantt chart on a canvas: bars as pixels, everything else as canvas text and lines. */
import type { Rgb } from '../../lib/palette';
import { inkOn, parseColour } from '../../lib/palette';
import { clamp, pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { LaneTasks, TaskStore } from '../../store';
import { LaneCoverage, MARK } from '../../store';
import type { BarColours } from './bars';
import { lostFailures, mix, pack, paintBars } from './bars';
import type { GanttLayout, LaneBox } from './layout';
import { fittingTicks } from './layout';
import type { Scene } from './model';
import { TextFitter } from './text-fitter';

/** One task of a lane, by its row in the store, which does not change when others come. */
export interface TaskRef {
  readonly lane: number;
  readonly row: number;
  readonly startS: number;
}

export interface Picture {
  readonly layout: GanttLayout;
  readonly scene: Scene;
  readonly theme: Theme;
  readonly prefixColour: (prefix: number) => string;
  /** A cursor line; null: none. */
  readonly cursorPx: number | null;
  readonly hovered: TaskRef | null;
  readonly selected: TaskRef | null;
}

/** Narrower bars have no text. */
const MIN_TEXT_PX = 42;
/** Lanes with more tasks in sight have no text on bars. */
const MAX_TEXTS = 2000;
const FLAG_GAP_PX = 5;
const BLACK: Rgb = [0, 0, 0];

export class GanttPainter {
  readonly #context: CanvasRenderingContext2D | null;
  readonly #texts = new TextFitter();
  #image: ImageData | null = null;
  #coverages: LaneCoverage[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.#context = canvas.getContext('2d', { alpha: false });
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
    this.#paintPlot(context, store, picture, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `11px ${theme.font}`;
    context.textBaseline = 'middle';
    this.#paintBarTexts(context, store, picture);
    this.#paintFailures(context, picture, ratio);
    paintOutlines(context, store, picture);
    this.#paintGutter(context, picture);
    this.#paintAxis(context, picture);
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

  #paintPlot(context: CanvasRenderingContext2D, store: TaskStore, picture: Picture, ratio: number): void {
    const { layout, scene, theme } = picture;
    const columns = Math.max(Math.round(layout.plotWidthPx * ratio), 1);
    const rows = Math.max(Math.round(layout.plotHeightPx * ratio), 1);
    if (this.#image?.width !== columns || this.#image.height !== rows) {
      this.#image = context.createImageData(columns, rows);
    }
    const pixels = new Uint32Array(this.#image.data.buffer);
    const colours = barColours(theme, picture.prefixColour);
    pixels.fill(pack(colours.paper));
    layout.boxes.forEach((lane, i) => {
      const coverage = (this.#coverages[i] ??= new LaneCoverage());
      coverage.measure(store.lane(lane.id), scene.span, columns, scene.runs, store.tables.prefixes.length);
      coverage.addOpen(scene.open.get(lane.id) ?? [], scene.nowS, scene.span);
      const top = Math.round((lane.topPx + (layout.lanePx - layout.barPx) / 2) * ratio);
      const height = Math.round(layout.barPx * ratio);
      paintBars(pixels, columns, { top, height, ratio }, coverage, colours);
      paintTraces(pixels, columns, top + height, coverage, colours);
    });
    const places = layout.ticks.map(tick => Math.round(pxAt(scene.span, columns, tick.timeS)));
    paintGrid(pixels, columns, places, colours, theme);
    context.putImageData(this.#image, Math.round(layout.plotLeftPx * ratio), 0);
  }

  #paintBarTexts(context: CanvasRenderingContext2D, store: TaskStore, { layout, scene, prefixColour }: Picture): void {
    if (layout.barPx < 13) {
      return;
    }
    layout.boxes.forEach((box, i) => {
      const lane = store.lane(box.id);
      if (lane === undefined || (this.#coverages[i]?.visited ?? 0) > MAX_TEXTS) {
        return;
      }
      for (const task of tasksInSight(lane, scene)) {
        const { leftPx, rightPx } = barPx(layout, scene, lane.startS[task] ?? 0, lane.stopS[task] ?? 0);
        const plain = ((lane.flags[task] ?? 0) & 3) === 0;
        const prefix = lane.prefix[task] ?? 0;
        if (rightPx - leftPx >= MIN_TEXT_PX && plain) {
          const text = this.#texts.fit(context, store.tables.prefixes[prefix] ?? '', rightPx - leftPx - 10);
          context.fillStyle = inkOn(parseColour(prefixColour(prefix)) ?? BLACK);
          context.fillText(text, leftPx + 5, box.topPx + layout.lanePx / 2 + 0.5);
        }
      }
    });
  }

  /** A flag for each failure that is too short to be seen among its neighbours. */
  #paintFailures(context: CanvasRenderingContext2D, { layout, theme }: Picture, ratio: number): void {
    context.fillStyle = theme.error;
    context.strokeStyle = theme.paper;
    layout.boxes.forEach((box, i) => {
      const coverage = this.#coverages[i];
      const top = box.topPx + (layout.lanePx - layout.barPx) / 2;
      for (const x of coverage === undefined ? [] : lostFailures(coverage, FLAG_GAP_PX * ratio)) {
        flag(context, layout.plotLeftPx + (x + 0.5) / ratio, top);
      }
    });
  }

  #paintGutter(context: CanvasRenderingContext2D, { layout, theme }: Picture): void {
    context.save();
    context.beginPath();
    context.rect(0, 0, layout.plotLeftPx, layout.plotHeightPx);
    context.clip();
    context.fillStyle = theme.faint;
    context.textAlign = 'right';
    for (const { label, topPx } of layout.boxes) {
      const text = this.#texts.fit(context, label, layout.plotLeftPx - 14, 'middle');
      context.fillText(text, layout.plotLeftPx - 8, topPx + layout.lanePx / 2 + 0.5);
    }
    context.restore();
  }

  #paintAxis(context: CanvasRenderingContext2D, { layout, scene, theme, cursorPx }: Picture): void {
    const { plotLeftPx: left, plotWidthPx: width, plotHeightPx: top } = layout;
    context.strokeStyle = theme.line;
    line(context, left, top + 0.5, left + width, top + 0.5);
    const places = layout.ticks.map(tick => ({
      px: pxAt(scene.span, width, tick.timeS),
      labelPx: context.measureText(tick.label).width,
      label: tick.label
    }));
    const fits = fittingTicks(places, width);
    context.fillStyle = theme.faint;
    context.textAlign = 'left';
    places.forEach(({ px, labelPx, label }, i) => {
      const x = Math.round(left + px) + 0.5;
      line(context, x, top, x, top + 4);
      if (fits[i] === true) {
        context.fillText(label, left + clamp(px - labelPx / 2, 0, width - labelPx), top + 15);
      }
    });
    if (scene.growing) {
      context.strokeStyle = theme.accent;
      const x = Math.round(left + pxAt(scene.span, width, scene.nowS)) + 0.5;
      if (x > left && x < left + width) {
        line(context, x, 0, x, top + 4);
      }
    }
    if (cursorPx !== null) {
      context.strokeStyle = theme.faint;
      context.globalAlpha = 0.5;
      line(context, Math.round(cursorPx) + 0.5, 0, Math.round(cursorPx) + 0.5, top);
      context.globalAlpha = 1;
    }
  }
}

/** The tasks of a lane that the span touches. */
function* tasksInSight(lane: LaneTasks, { span, runs }: Scene): Generator<number> {
  const last = lane.firstStarting(span.stopS);
  for (let i = lane.firstReaching(span.startS); i < last; i += 1) {
    const run = lane.run[i] ?? 0;
    if (runs === null || (run >= runs[0] && run <= runs[1])) {
      yield i;
    }
  }
}

function barPx(layout: GanttLayout, { span }: Scene, startS: number, stopS: number): { leftPx: number; rightPx: number } {
  const at = (timeS: number): number => clamp(pxAt(span, layout.plotWidthPx, timeS), 0, layout.plotWidthPx);
  return { leftPx: layout.plotLeftPx + at(startS), rightPx: layout.plotLeftPx + at(stopS) };
}

function paintOutlines(context: CanvasRenderingContext2D, store: TaskStore, picture: Picture): void {
  const { layout, theme, hovered, selected } = picture;
  context.save();
  context.beginPath();
  context.rect(layout.plotLeftPx - 2, 0, layout.plotWidthPx + 4, layout.plotHeightPx);
  context.clip();
  for (const [ref, colour, widthPx] of [[hovered, theme.ink, 1.5], [selected, theme.accent, 2.5]] as const) {
    const box = layout.boxes.find(lane => lane.id === ref?.lane);
    const lane = ref === null ? undefined : store.lane(ref.lane);
    const i = ref === null ? null : (lane?.find(ref.startS, ref.row) ?? null);
    if (box !== undefined && lane !== undefined && i !== null) {
      outline(context, picture, box, lane.startS[i] ?? 0, lane.stopS[i] ?? 0, colour, widthPx);
    }
  }
  context.restore();
}

function outline(
  context: CanvasRenderingContext2D,
  { layout, scene }: Picture,
  box: LaneBox,
  startS: number,
  stopS: number,
  colour: string,
  widthPx: number
): void {
  const { leftPx, rightPx } = barPx(layout, scene, startS, stopS);
  const top = box.topPx + (layout.lanePx - layout.barPx) / 2;
  context.strokeStyle = colour;
  context.lineWidth = widthPx;
  context.strokeRect(leftPx - 0.5, top + 0.5, Math.max(rightPx - leftPx, 2) + 1, layout.barPx - 1);
  context.lineWidth = 1;
}

/** A triangle that points down at a place of the lane's upper edge. */
function flag(context: CanvasRenderingContext2D, x: number, top: number): void {
  context.beginPath();
  context.moveTo(x - 4.5, top - 1);
  context.lineTo(x + 4.5, top - 1);
  context.lineTo(x, top + 7);
  context.closePath();
  context.fill();
  context.stroke();
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Below the bar, a dot for tasks too short for their exact coverage to be seen. */
function paintTraces(pixels: Uint32Array, width: number, y: number, coverage: LaneCoverage, colours: BarColours): void {
  const row = pixels.subarray(y * width, (y + 1) * width);
  const faint = (x: number): boolean => (coverage.cover[x] ?? 0) < 0.2;
  for (let x = 0; x < row.length; x += 1) {
    if (((coverage.marks[x] ?? 0) & MARK.any) !== 0 && faint(x) && faint(x - 1) && faint(x + 1)) {
      row[x] = pack(colours.prefix(coverage.prefix[x] ?? 0));
    }
  }
}

/** Lines at the ticks, only where nothing was drawn. */
function paintGrid(pixels: Uint32Array, width: number, places: number[], colours: BarColours, theme: Theme): void {
  const paper = pack(colours.paper);
  const ground = pack(colours.ground);
  const grid = mix(colours.paper, parseColour(theme.line) ?? colours.ground, 0.8);
  for (const x of places) {
    for (let i = x; x >= 0 && x < width && i < pixels.length; i += width) {
      if (pixels[i] === paper || pixels[i] === ground) {
        pixels[i] = grid;
      }
    }
  }
}

function barColours(theme: Theme, prefixColour: (prefix: number) => string): BarColours {
  const parsed = (text: string): Rgb => parseColour(text) ?? BLACK;
  const known = new Map<number, Rgb>();
  return {
    ground: parsed(theme.lane),
    paper: parsed(theme.paper),
    error: parsed(theme.error),
    errorGap: theme.dark ? [48, 8, 8] : [40, 0, 0],
    prefix(id) {
      let colour = known.get(id);
      if (colour === undefined) {
        colour = parsed(prefixColour(id));
        known.set(id, colour);
      }
      return colour;
    }
  };
}
