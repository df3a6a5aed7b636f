/**
 * The lower part of a bar in which activities are drawn, so that computing, above it, stays what it is. What a
 * thread did instead of a task is drawn above it, too, where it took all of the time.
 */
import type { Rgb } from '../../lib/palette';
import type { CoverageColumns } from '../../store';
import type { KindStyle } from './kinds';
import { gapOf } from './kinds';

/** How much of a bar's height activities take. */
const SHARE = 0.42;
/** A column with any activity is at least so strong: a short transfer must not be lost. */
const LEAST = 0.4;
/** How strong activities are while a person looks for tasks. */
const BACK = 0.3;

export interface StripBox {
  /** Pixel row of the bar's upper edge, and its height; the image may cut it. */
  readonly top: number;
  readonly height: number;
  readonly ratio: number;
}

export interface StripColours {
  readonly dark: boolean;
  readonly paper: Rgb;
  /** The kinds by their code. */
  readonly styles: readonly KindStyle[];
  /** Whether a person looks for tasks, which these are not. */
  readonly isBack: boolean;
}

/** Where the strip of a bar begins. */
export function stripTop({ top, height, ratio }: StripBox): number {
  return top + height - Math.max(Math.round(height * SHARE), Math.round(3 * ratio));
}

/** Paint what a row has of activities over its bar, each column as strong as they took of its time. */
export function paintStrip(
  pixels: Uint32Array, width: number, box: StripBox, { cover, prefix: kind }: CoverageColumns, colours: StripColours
): void {
  const rows = Math.floor(pixels.length / width);
  const first = stripTop(box);
  const to = Math.min(box.top + box.height, rows);
  for (let x = 0; x < width; x += 1) {
    const share = cover[x] as number;
    const style = share > 0 ? colours.styles[kind[x] as number] : undefined;
    if (style === undefined) {
      continue;
    }
    const on = colours.dark ? style.dark : style.light;
    const off = gapOf(on, colours.paper);
    const strength = colours.isBack ? BACK : 1;
    const weight = Math.min(Math.max(share, LEAST), 1) * strength;
    for (let y = Math.max(style.isWhole ? box.top : first, 0); y < to; y += 1) {
      const place = y * width + x;
      // A line of paper keeps it apart from a task of a colour like its own.
      const isApart = !style.isWhole && y - first < box.ratio;
      const colour = isApart ? colours.paper : style.isOn(x / box.ratio, (y - box.top) / box.ratio) ? on : off;
      pixels[place] = over(pixels[place] as number, colour, y < first ? Math.min(share, 1) * strength : weight);
    }
  }
}

/** `share` of a colour on a pixel. */
function over(pixel: number, colour: Rgb, share: number): number {
  let mixed = 255 << 24;
  for (let i = 0; i < 3; i += 1) {
    const below = (pixel >>> (8 * i)) & 255;
    mixed |= Math.round(below + ((colour[i] as number) - below) * share) << (8 * i);
  }
  return mixed >>> 0;
}
