/** Where lanes and their bars go; pure geometry in CSS pixels. */
import type { PlotBox, Room } from '../timeline/drawing/room';
import { MAX_BRIEF_PX, MAX_TRACK_PX } from '../timeline/drawing/room';
import type { Row } from './rows';

export interface RowBox {
  readonly row: Row;
  readonly topPx: number;
}

export interface LaneLayout extends PlotBox {
  /** Height of the part with rows that is in sight. */
  readonly plotHeightPx: number;
  readonly rowPx: number;
  /** How far the rows are scrolled. */
  readonly scrollPx: number;
  /** Height of a bar; the rest of the row is the gap below. */
  readonly barPx: number;
  /** Rows in sight, top to bottom; the first may begin above the edge. */
  readonly boxes: readonly RowBox[];
}

type LaneRoom = PlotBox & Pick<Room, 'scrollPx'> & Partial<Pick<Room, 'isBrief'>>;

const MIN_PLOT_PX = 36;
const CHARACTER_PX = 6.3;

/** How high all rows are together. */
export function lanesHeightPx(rows: readonly Row[], isBrief = false): number {
  return Math.max(rows.length * rowHeightPx(rows.length, isBrief), MIN_PLOT_PX);
}

export function layoutLanes(rows: readonly Row[], { plotLeftPx, plotWidthPx, scrollPx, isBrief = false }: LaneRoom): LaneLayout {
  const rowPx = rowHeightPx(rows.length, isBrief);
  const plotHeightPx = Math.min(lanesHeightPx(rows, isBrief), isBrief ? MAX_BRIEF_PX : MAX_TRACK_PX);
  const first = Math.max(Math.floor(scrollPx / rowPx), 0);
  const last = Math.ceil((scrollPx + plotHeightPx) / rowPx);
  return {
    plotLeftPx,
    plotWidthPx,
    plotHeightPx,
    rowPx,
    scrollPx,
    barPx: rowPx - (rowPx >= 18 ? 4 : 2),
    boxes: rows.slice(first, last).map((row, i) => ({ row, topPx: (first + i) * rowPx - scrollPx }))
  };
}

/** Few rows are tall and easy to hit; many are as low as a label allows. */
export function rowHeightPx(nRows: number, isBrief = false): number {
  if (isBrief) {
    return nRows <= 4 ? 22 : nRows <= 6 ? 18 : 14;
  }
  return nRows <= 4 ? 30 : nRows <= 8 ? 26 : nRows <= 16 ? 22 : nRows <= 32 ? 18 : 14;
}

/** How much room the labels ask for. */
export function gutterPx(rows: readonly Row[], widthPx: number): number {
  const longest = rows.reduce((most, row) => Math.max(most, charactersOf(row)), 0);
  const most = Math.max(Math.min(260, widthPx * 0.3), 92);
  return Math.round(Math.min(Math.max(longest * CHARACTER_PX + 18, 48), most));
}

/** How wide a label is: the row of a worker also has a mark that opens it and its number of lanes. */
function charactersOf(row: Row): number {
  return row.kind === 'lane' ? row.label.length + (row.inset ? 2 : 0) : row.label.length + 5 + `${row.lanes.length}`.length;
}

/** The row at a height of the canvas; null above, below and between the last row and the axis. */
export function rowAt(layout: LaneLayout, yPx: number): RowBox | null {
  if (yPx < 0 || yPx >= layout.plotHeightPx) {
    return null;
  }
  return layout.boxes.find(box => yPx >= box.topPx && yPx < box.topPx + layout.rowPx) ?? null;
}
