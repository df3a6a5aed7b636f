/** The bars of one lane as pixels: blended by exact coverage, never as anti-aliased rectangles. */
import type { Rgb } from '../../../lib/palette';
import type { CoverageColumns } from '../../../store';
import { MARK, NO_PREFIX } from '../../../store';

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
  readonly prefix: (id: number) => Rgb;
}

export interface BarBox {
  /** First pixel row, and number of rows of the bar; clipped to the image. */
  readonly top: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
}

const BAD = MARK.erred | MARK.interrupted | MARK.lost;

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
  const on = mix(colours.ground, colours.error, weight);
  const off = mix(colours.ground, colours.errorGap, weight);
  const lit = patternOf(mark, box.ratio);
  for (let y = top; y < bottom; y += 1) {
    pixels[y * width + x] = lit(x, y - box.top) ? on : off;
  }
}

/** A failure that needs a mark of its own. */
export interface Failure {
  readonly column: number;
  /** MARK.erred, MARK.interrupted or MARK.lost: the first of these that is there. */
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
  return [MARK.erred, MARK.interrupted].find(kind => (mark & kind) !== 0) ?? MARK.lost;
}

/** Erred: steep stripes; interrupted: level ones; lost: dots. */
function patternOf(mark: number, ratio: number): (x: number, y: number) => boolean {
  if ((mark & MARK.erred) !== 0) {
    return (x, y) => stripe(x + y, ratio, 6);
  }
  if ((mark & MARK.interrupted) !== 0) {
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
