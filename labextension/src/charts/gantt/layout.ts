/** Where everything of the Gantt chart goes; pure geometry in CSS pixels. */
import type { Span } from '../../lib/span';
import type { Tick } from '../../lib/ticks';
import { timeTicks } from '../../lib/ticks';
import type { Row } from './rows';

export interface LayoutInput {
  readonly widthPx: number;
  readonly rows: readonly Row[];
  readonly span: Span;
  /** What the axis calls 0. */
  readonly zeroS: number;
  /** How far the rows are scrolled. */
  readonly scrollPx: number;
  /** Where the bars begin; left out: as far to the left as the labels allow. */
  readonly leftPx?: number;
}

export interface RowBox {
  readonly row: Row;
  readonly topPx: number;
}

export interface GanttLayout {
  readonly widthPx: number;
  /** The canvas: rows in sight and the axis. */
  readonly heightPx: number;
  /** All rows and the axis, what the scroller holds. */
  readonly contentPx: number;
  /** Left edge and width of the bars. */
  readonly plotLeftPx: number;
  readonly plotWidthPx: number;
  /** Height of the part with rows. */
  readonly plotHeightPx: number;
  readonly rowPx: number;
  /** How far the rows are scrolled. */
  readonly scrollPx: number;
  /** Height of a bar; the rest of the row is the gap below. */
  readonly barPx: number;
  /** Rows in sight, top to bottom; the first may begin above the edge. */
  readonly boxes: readonly RowBox[];
  readonly ticks: readonly Tick[];
}

export const AXIS_PX = 26;
const RIGHT_PX = 12;
const MAX_PLOT_PX = 420;
const MIN_PLOT_PX = 36;
const CHARACTER_PX = 6.3;
const TICK_PX = 88;

export function layoutGantt({ widthPx, rows, span, zeroS, scrollPx, leftPx }: LayoutInput): GanttLayout {
  const rowPx = rowHeightPx(rows.length);
  const bodyPx = Math.max(rows.length * rowPx, MIN_PLOT_PX);
  const plotHeightPx = Math.min(bodyPx, MAX_PLOT_PX);
  const plotLeftPx = leftPx ?? gutterPx(rows, widthPx);
  const plotWidthPx = Math.max(widthPx - plotLeftPx - RIGHT_PX, 40);
  const first = Math.max(Math.floor(scrollPx / rowPx), 0);
  const last = Math.ceil((scrollPx + plotHeightPx) / rowPx);
  return {
    widthPx,
    heightPx: plotHeightPx + AXIS_PX,
    contentPx: bodyPx + AXIS_PX,
    plotLeftPx,
    plotWidthPx,
    plotHeightPx,
    rowPx,
    scrollPx,
    barPx: rowPx - (rowPx >= 18 ? 4 : 2),
    boxes: rows.slice(first, last).map((row, i) => ({ row, topPx: (first + i) * rowPx - scrollPx })),
    ticks: timeTicks(span, zeroS, Math.max(Math.floor(plotWidthPx / TICK_PX), 2))
  };
}

/** Few rows are tall and easy to hit; many are as low as a label allows. */
export function rowHeightPx(nRows: number): number {
  return nRows <= 4 ? 30 : nRows <= 8 ? 26 : nRows <= 16 ? 22 : nRows <= 32 ? 18 : 14;
}

/** How much room the labels ask for. */
export function gutterPx(rows: readonly Row[], widthPx: number): number {
  const longest = rows.reduce((most, row) => Math.max(most, charactersOf(row)), 0);
  const most = Math.max(Math.min(180, widthPx * 0.26), 72);
  return Math.round(Math.min(Math.max(longest * CHARACTER_PX + 18, 48), most));
}

/** How wide a label is: the row of a worker also has a mark that opens it and its number of lanes. */
function charactersOf(row: Row): number {
  return row.kind === 'lane' ? row.label.length + (row.inset ? 2 : 0) : row.label.length + 5 + `${row.lanes.length}`.length;
}

/** The row at a height of the canvas; null above, below and between the last row and the axis. */
export function rowAt(layout: GanttLayout, yPx: number): RowBox | null {
  if (yPx < 0 || yPx >= layout.plotHeightPx) {
    return null;
  }
  return layout.boxes.find(box => yPx >= box.topPx && yPx < box.topPx + layout.rowPx) ?? null;
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
