/** The bars as pixels of one image: each row measured, then painted by its exact coverage. */
import type { Rgb } from '../../lib/palette';
import { parseColour } from '../../lib/palette';
import { pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { Tick } from '../../lib/ticks';
import type { CoverageColumns, TaskStore } from '../../store';
import { MARK, NO_PREFIX } from '../../store';
import type { Drawn } from '../timeline/track';
import { MeasuredRows } from './measured';
import type { Row } from './rows';
import type { CoverageQuery, LaneLayer, Matches, Painting } from './scene';
import { coverageQuery } from './scene';

const BLACK: Rgb = [0, 0, 0];

export class LanePainter {
  #image: ImageData | null = null;
  readonly #rows = new MeasuredRows();
  /** What is looked for, and what of each row that is. */
  #matches: Matches | null = null;
  #found = new MeasuredRows();

  constructor(private readonly layer: LaneLayer | null) {}

  /** How exact what was painted is. */
  get drawn(): Drawn {
    const parts = this.#matches === null ? [this.#rows] : [this.#rows, this.#found];
    if (parts.some(({ rowsPending }) => rowsPending > 0)) {
      return 'unfinished';
    }
    return parts.some(({ isApproximate }) => isApproximate) || this.layer?.isApproximate === true ? 'approximate' : 'exact';
  }

  /** Paint into `context`, whose pixels are `ratio` to one of CSS; returns what each row in sight has of what is looked for, null: no bars. */
  paint(context: CanvasRenderingContext2D, store: TaskStore, painting: Painting, ticks: readonly Tick[], ratio: number): (CoverageColumns | null)[] {
    const { layout, scene, theme } = painting;
    const columns = Math.max(Math.round(layout.plotWidthPx * ratio), 1);
    const rows = Math.max(Math.round(layout.plotHeightPx * ratio), 1);
    if (this.#image?.width !== columns || this.#image.height !== rows) {
      this.#image = context.createImageData(columns, rows);
    }
    const pixels = new Uint32Array(this.#image.data.buffer);
    const colours = barColours(painting);
    pixels.fill(pack(colours.paper));
    const query = coverageQuery(store, scene, painting.filter, columns);
    const shown = layout.boxes.map(box => box.row);
    const measured = this.#rows.measure(store, scene, shown, query);
    const found = this.#measureFound(painting, shown, query);
    measured.forEach((coverage, i) => {
      const topPx = layout.boxes[i]?.topPx;
      if (coverage !== null && topPx !== undefined) {
        const top = Math.round((topPx + (layout.rowPx - layout.barPx) / 2) * ratio);
        const height = Math.round(layout.barPx * ratio);
        const part = found?.[i] ?? null;
        paintBars(pixels, columns, { top, height, ratio }, coverage, colours, part);
        paintTraces(pixels, columns, top + height, coverage, part === null ? colours.prefix : () => colours.other);
        if (part !== null) {
          paintTraces(pixels, columns, top + height, part, colours.prefix);
        }
      }
    });
    this.layer?.draw(pixels, columns, painting, ratio);
    const places = ticks.map(tick => Math.round(pxAt(scene.span, columns, tick.timeS)));
    paintGrid(pixels, columns, places, colours, theme);
    context.putImageData(this.#image, Math.round(layout.plotLeftPx * ratio), 0);
    return found ?? measured;
  }

  #measureFound({ scene: { open }, matches }: Painting, rows: readonly Row[], query: CoverageQuery): (CoverageColumns | null)[] | null {
    if (matches !== this.#matches) {
      this.#matches = matches;
      this.#found = new MeasuredRows();
    }
    if (matches === null) {
      return null;
    }
    const inFlight = new Map(Array.from(open, ([lane, bars]) => [lane, bars.filter(({ task }) => matches.hasOpen(task))]));
    return this.#found.measure({ epoch: '', lane: id => matches.lane(id) }, { open: inFlight }, rows, query);
  }
}

/** Below the bar, a dot for tasks too short for their exact coverage to be seen. */
function paintTraces(pixels: Uint32Array, width: number, y: number, { cover, marks, prefix }: CoverageColumns, colourOf: (prefix: number) => Rgb): void {
  const row = pixels.subarray(y * width, (y + 1) * width);
  const faint = (x: number): boolean => (cover[x] ?? 0) < 0.2;
  for (let x = 0; x < row.length; x += 1) {
    if (((marks[x] ?? 0) & MARK.any) !== 0 && faint(x) && faint(x - 1) && faint(x + 1)) {
      row[x] = pack(colourOf(prefix[x] ?? 0));
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

function barColours({ theme, prefixColour, filter }: Painting): BarColours {
  const parsed = (text: string): Rgb => parseColour(text) ?? BLACK;
  const known = new Map<number, Rgb>();
  return {
    ground: parsed(theme.lane),
    paper: parsed(theme.paper),
    ink: parsed(theme.ink),
    other: theme.dark ? [74, 82, 92] : [196, 202, 209],
    error: parsed(theme.error),
    errorGap: parsed(theme.errorGap),
    stopped: parsed(theme.stopped),
    focus: filter.focus,
    prefix: id => {
      let colour = known.get(id);
      if (colour === undefined) {
        colour = parsed(prefixColour(id));
        known.set(id, colour);
      }
      return colour;
    }
  };
}

/** Everything the bars are coloured with, as parts of 0 to 255. */
export interface BarColours {
  readonly ground: Rgb;
  readonly paper: Rgb;
  /** What edges of bars lean to: away from the ground, or they would look idle. */
  readonly ink: Rgb;
  /** What other prefixes become while one is in focus. */
  readonly other: Rgb;
  /** The prefix in focus; -1: none. */
  readonly focus: number;
  readonly error: Rgb;
  /** What error stripes alternate with. */
  readonly errorGap: Rgb;
  /** What a person stopped. */
  readonly stopped: Rgb;
  readonly prefix: (id: number) => Rgb;
}

export interface BarBox {
  /** First pixel row, and number of rows of the bar; clipped to the image. */
  readonly top: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
}

const CUT = MARK.interrupted | MARK.released;
const BAD = MARK.erred | CUT | MARK.lost;
/** How strong the gaps between the stripes of stopped tasks are. */
const STOPPED_GAP = 0.25;

/**
 * Paint a lane into an image of `width` × `rows` pixels, all of whose bytes are one Uint32 a pixel.
 *
 * @param found what of the lane a person looks for, in colour beside all else in one shade; null: nothing is looked for
 */
export function paintBars(
  pixels: Uint32Array,
  width: number,
  box: BarBox,
  coverage: CoverageColumns,
  colours: BarColours,
  found: CoverageColumns | null = null
): void {
  const rows = Math.floor(pixels.length / width);
  const top = Math.max(box.top, 0);
  const bottom = Math.min(box.top + box.height, rows);
  if (bottom <= top) {
    return;
  }
  const line = pixels.subarray(top * width, top * width + width);
  const { focus } = colours;
  const seen = focus >= 0 ? coverage : (found ?? coverage);
  const special = focus >= 0
    ? paintApart(line, coverage, coverage.focus, () => focus, coverage.marks, colours)
    : found === null
      ? paintLine(line, coverage, colours)
      : paintApart(line, coverage, found.cover, x => found.prefix[x] as number, found.marks, colours);
  for (let y = top + 1; y < bottom; y += 1) {
    pixels.copyWithin(y * width, top * width, top * width + width);
  }
  for (const x of special) {
    paintPattern(pixels, width, x, top, bottom, box, seen, colours);
  }
}

/** One row of the bars; returns the columns that have a pattern on top. */
function paintLine(line: Uint32Array, { cover, prefix, marks }: CoverageColumns, colours: BarColours): number[] {
  const special: number[] = [];
  const { ground } = colours;
  const empty = pack(ground);
  let lastPrefix = NO_PREFIX;
  let solid = empty;
  let colour: Rgb = ground;
  for (let x = 0; x < line.length; x += 1) {
    const share = cover[x] as number;
    const mark = marks[x] as number;
    if (share === 0) {
      line[x] = empty;
    } else {
      const id = prefix[x] as number;
      if (id !== lastPrefix) {
        lastPrefix = id;
        colour = colours.prefix(id);
        solid = pack(colour);
      }
      if (share > 0.9999) {
        line[x] = (mark & MARK.edge) === 0 ? solid : mix(colour, colours.ink, 0.35);
      } else {
        line[x] = mix(ground, colour, share);
      }
    }
    if ((mark & (BAD | MARK.running)) !== 0) {
      special.push(x);
    }
  }
  return special;
}

/** One row of which a part stands out: that in its colours, all else in one shade; returns the columns with failures. */
function paintApart(line: Uint32Array, { cover }: CoverageColumns, part: Float32Array, prefixAt: (x: number) => number, marks: Uint8Array, colours: BarColours): number[] {
  const special: number[] = [];
  for (let x = 0; x < line.length; x += 1) {
    const share = Math.min(cover[x] as number, 1);
    const own = Math.min(part[x] as number, share);
    line[x] = blend(colours.ground, colours.other, share - own, own === 0 ? colours.other : colours.prefix(prefixAt(x)), own);
    if (((marks[x] as number) & BAD) !== 0) {
      special.push(x);
    }
  }
  return special;
}

function paintPattern(
  pixels: Uint32Array,
  width: number,
  x: number,
  top: number,
  bottom: number,
  box: BarBox,
  { cover, prefix, bad, marks }: CoverageColumns,
  colours: BarColours
): void {
  const mark = marks[x] as number;
  const share = cover[x] as number;
  if ((mark & BAD) === 0) {
    const light = mix(colours.ground, colours.prefix(prefix[x] as number), share * 0.62);
    paintWhere(pixels, width, x, top, bottom, y => stripe(x + y - box.top, box.ratio, 10), light);
    return;
  }
  if ((bad[x] as number) * 2 < share) {
    return;
  }
  const weight = Math.max(share, 0.35);
  const isStopped = firstBad(mark) === MARK.interrupted;
  const on = mix(colours.ground, isStopped ? colours.stopped : colours.error, weight);
  const off = isStopped ? mix(colours.ground, colours.stopped, weight * STOPPED_GAP) : mix(colours.ground, colours.errorGap, weight);
  const lit = patternOf(mark, box.ratio);
  for (let y = top; y < bottom; y += 1) {
    pixels[y * width + x] = lit(x, y - box.top) ? on : off;
  }
}

/** A failure that needs a mark of its own. */
export interface Failure {
  readonly column: number;
  /** MARK.erred, MARK.interrupted (also of released ones) or MARK.lost: the first of these that is there. */
  readonly kind: number;
}

/** Columns in which a failure is lost among others; they keep `gap` columns apart. */
export function lostFailures({ cover, bad, marks }: CoverageColumns, gap: number): Failure[] {
  const places: Failure[] = [];
  let last = -Infinity;
  for (let x = 0; x < marks.length; x += 1) {
    const drowned = ((marks[x] as number) & BAD) !== 0 && (bad[x] as number) * 2 < (cover[x] as number);
    if (drowned && x - last >= gap) {
      places.push({ column: x, kind: firstBad(marks[x] as number) });
      last = x;
    }
  }
  return places;
}

function firstBad(mark: number): number {
  return (mark & MARK.erred) !== 0 ? MARK.erred : (mark & CUT) !== 0 ? MARK.interrupted : MARK.lost;
}

/** Erred: steep stripes; interrupted or released: level ones; lost: dots. */
function patternOf(mark: number, ratio: number): (x: number, y: number) => boolean {
  if ((mark & MARK.erred) !== 0) {
    return (x, y) => stripe(x + y, ratio, 6);
  }
  if ((mark & CUT) !== 0) {
    return (_, y) => stripe(y, ratio, 6);
  }
  return (x, y) => stripe(x, ratio, 6) !== stripe(y, ratio, 6);
}

function stripe(place: number, ratio: number, periodPx: number): boolean {
  const period = periodPx * ratio;
  return ((place % period) + period) % period < period / 2;
}

function paintWhere(
  pixels: Uint32Array,
  width: number,
  x: number,
  top: number,
  bottom: number,
  where: (y: number) => boolean,
  value: number
): void {
  for (let y = top; y < bottom; y += 1) {
    if (where(y)) {
      pixels[y * width + x] = value;
    }
  }
}

/** RGBA bytes as the little-endian number that ImageData holds. */
export function pack([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** `share` of `b` on `a`. */
export function mix(a: Rgb, b: Rgb, share: number): number {
  return blend(a, b, share, a, 0);
}

/** `shareB` of `b` and `shareC` of `c` on `a`; once for each pixel column, so without anything to collect. */
function blend(a: Rgb, b: Rgb, shareB: number, c: Rgb, shareC: number): number {
  const red = a[0] + (b[0] - a[0]) * shareB + (c[0] - a[0]) * shareC + 0.5;
  const green = a[1] + (b[1] - a[1]) * shareB + (c[1] - a[1]) * shareC + 0.5;
  const blue = a[2] + (b[2] - a[2]) * shareB + (c[2] - a[2]) * shareC + 0.5;
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
