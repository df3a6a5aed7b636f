/** Where a track may draw: named spaces, and the time that lies on them; pure geometry in CSS pixels. */
import type { Span } from '../../../lib/span';
import type { Tick } from '../../../lib/ticks';
import { timeTicks } from '../../../lib/ticks';

/** The part of a canvas on which time lies. */
export interface PlotBox {
  readonly plotLeftPx: number;
  readonly plotWidthPx: number;
}

/** A track's part of its canvas: labels left of the plot, the axis below it. */
export interface Room extends PlotBox {
  readonly widthPx: number;
  /** Of what is in sight, without the axis. */
  readonly heightPx: number;
  /** How far a track that is higher than its room is scrolled. */
  readonly scrollPx: number;
  readonly ticks: readonly Tick[];
  /** Whether it is in a brief view, which is low. */
  readonly isBrief: boolean;
}

/** A track that is higher than this scrolls. */
export const MAX_TRACK_PX = 420;
export const MAX_BRIEF_PX = 112;
const MIN_WIDTH_PX = 200;
const RIGHT_PX = 12;
const TICK_PX = 88;
/** A step is up to two and a half times what was asked for, and one label alone is no scale. */
const MIN_TICKS = 3;

/** How wide a track is in a box of the page. */
export function trackWidthPx(clientPx: number): number {
  return Math.max(clientPx, MIN_WIDTH_PX);
}

interface RoomInput {
  readonly widthPx: number;
  /** Of all of the track. */
  readonly heightPx: number;
  readonly leftPx: number;
  readonly scrollPx: number;
  readonly span: Span;
  /** What the axis calls 0. */
  readonly zeroS: number;
  readonly isBrief?: boolean;
}

export function roomOf({ widthPx, heightPx, leftPx, scrollPx, span, zeroS, isBrief = false }: RoomInput): Room {
  const plotWidthPx = Math.max(widthPx - leftPx - RIGHT_PX, 40);
  return {
    widthPx,
    heightPx: Math.min(heightPx, isBrief ? MAX_BRIEF_PX : MAX_TRACK_PX),
    plotLeftPx: leftPx,
    plotWidthPx,
    scrollPx,
    ticks: timeTicks(span, zeroS, Math.max(Math.floor(plotWidthPx / TICK_PX), MIN_TICKS)),
    isBrief
  };
}
