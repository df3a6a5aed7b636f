/** Where everything of the Gantt chart goes; pure geometry in CSS pixels. */
import type { Span } from '../../lib/span';
import type { Tick } from '../../lib/ticks';
import { timeTicks } from '../../lib/ticks';

export interface LaneLabel {
  readonly id: number;
  readonly label: string;
}

export interface LayoutInput {
  readonly widthPx: number;
  readonly lanes: readonly LaneLabel[];
  readonly span: Span;
  /** What the axis calls 0. */
  readonly zeroS: number;
  /** How far the lanes are scrolled. */
  readonly scrollPx: number;
  /** Where the bars begin; left out: as far to the left as the labels allow. */
  readonly leftPx?: number;
}

export interface LaneBox extends LaneLabel {
  readonly topPx: number;
}

export interface GanttLayout {
  readonly widthPx: number;
  /** The canvas: lanes in sight and the axis. */
  readonly heightPx: number;
  /** All lanes and the axis, what the scroller holds. */
  readonly contentPx: number;
  /** Left edge and width of the bars. */
  readonly plotLeftPx: number;
  readonly plotWidthPx: number;
  /** Height of the part with lanes. */
  readonly plotHeightPx: number;
  readonly lanePx: number;
  /** Height of a bar; the rest of the lane is the gap below. */
  readonly barPx: number;
  /** Lanes in sight, top to bottom; the first may begin above the edge. */
  readonly boxes: readonly LaneBox[];
  readonly ticks: readonly Tick[];
}

export const AXIS_PX = 26;
const RIGHT_PX = 12;
const MAX_PLOT_PX = 420;
const MIN_PLOT_PX = 36;
const CHARACTER_PX = 6.3;
const TICK_PX = 88;

export function layoutGantt({ widthPx, lanes, span, zeroS, scrollPx, leftPx }: LayoutInput): GanttLayout {
  const lanePx = laneHeightPx(lanes.length);
  const bodyPx = Math.max(lanes.length * lanePx, MIN_PLOT_PX);
  const plotHeightPx = Math.min(bodyPx, MAX_PLOT_PX);
  const plotLeftPx = leftPx ?? gutterPx(lanes, widthPx);
  const plotWidthPx = Math.max(widthPx - plotLeftPx - RIGHT_PX, 40);
  const first = Math.max(Math.floor(scrollPx / lanePx), 0);
  const last = Math.ceil((scrollPx + plotHeightPx) / lanePx);
  return {
    widthPx,
    heightPx: plotHeightPx + AXIS_PX,
    contentPx: bodyPx + AXIS_PX,
    plotLeftPx,
    plotWidthPx,
    plotHeightPx,
    lanePx,
    barPx: lanePx - (lanePx >= 18 ? 4 : 2),
    boxes: lanes.slice(first, last).map((lane, i) => ({ ...lane, topPx: (first + i) * lanePx - scrollPx })),
    ticks: timeTicks(span, zeroS, Math.max(Math.floor(plotWidthPx / TICK_PX), 1))
  };
}

/** Few lanes are tall and easy to hit; many are as low as a label allows. */
export function laneHeightPx(nLanes: number): number {
  return nLanes <= 4 ? 30 : nLanes <= 8 ? 26 : nLanes <= 16 ? 22 : nLanes <= 32 ? 18 : 14;
}

/** How much room the labels ask for. */
export function gutterPx(lanes: readonly LaneLabel[], widthPx: number): number {
  const longest = lanes.reduce((most, lane) => Math.max(most, lane.label.length), 0);
  const most = Math.max(Math.min(180, widthPx * 0.26), 48);
  return Math.round(Math.min(Math.max(longest * CHARACTER_PX + 18, 48), most));
}

/** The lane at a height of the canvas; null above, below and between the last lane and the axis. */
export function laneAt(layout: GanttLayout, yPx: number): LaneBox | null {
  if (yPx < 0 || yPx >= layout.plotHeightPx) {
    return null;
  }
  return layout.boxes.find(box => yPx >= box.topPx && yPx < box.topPx + layout.lanePx) ?? null;
}

/** Ticks whose labels neither overlap nor leave the plot, given how wide each label is. */
export function fittingTicks(
  places: readonly { readonly px: number; readonly labelPx: number }[],
  widthPx: number,
  gapPx = 12
): boolean[] {
  let reach = -Infinity;
  return places.map(({ px, labelPx }) => {
    const left = Math.min(Math.max(px - labelPx / 2, 0), widthPx - labelPx);
    const fits = left >= reach;
    if (fits) {
      reach = left + labelPx + gapPx;
    }
    return fits;
  });
}
