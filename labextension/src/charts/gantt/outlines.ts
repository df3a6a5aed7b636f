/** Frames around the task under the pointer and the selected one, and the band being chosen. */
import type { BarPlace, Picture } from './picture';
import { barPx } from './picture';
import { rowOfLane } from './rows';
import { clipped } from './strokes';

export function paintOutlines(context: CanvasRenderingContext2D, picture: Picture): void {
  const { layout, theme, hovered, selected, bandPx } = picture;
  clipped(context, [layout.plotLeftPx - 2, 0, layout.plotWidthPx + 4, layout.plotHeightPx], () => {
    outline(context, picture, hovered, theme.ink, 1.5);
    outline(context, picture, selected, theme.accent, 2.5);
    if (bandPx !== null) {
      paintBand(context, picture, bandPx);
    }
  });
}

function outline(
  context: CanvasRenderingContext2D,
  picture: Picture,
  bar: BarPlace | null,
  colour: string,
  widthPx: number
): void {
  const { layout } = picture;
  const row = bar === null ? -1 : rowOfLane(layout.boxes.map(box => box.row), bar.lane);
  const box = layout.boxes[row];
  if (box === undefined || bar === null) {
    return;
  }
  const { leftPx, rightPx } = barPx(picture, bar.startS, bar.stopS);
  const top = box.topPx + (layout.rowPx - layout.barPx) / 2;
  context.strokeStyle = colour;
  context.lineWidth = widthPx;
  context.strokeRect(leftPx - 0.5, top + 0.5, Math.max(rightPx - leftPx, 2) + 1, layout.barPx - 1);
  context.lineWidth = 1;
}

function paintBand(context: CanvasRenderingContext2D, { layout, theme }: Picture, [from, to]: readonly [number, number]): void {
  const left = Math.min(from, to);
  const width = Math.abs(to - from);
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.18;
  context.fillRect(left, 0, width, layout.plotHeightPx);
  context.globalAlpha = 1;
  context.strokeStyle = theme.accent;
  context.strokeRect(left, 0.5, width, layout.plotHeightPx - 1);
}
