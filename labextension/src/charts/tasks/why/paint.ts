/** Evidence over the bars: when it was, and outlines around its tasks. */
import { clipped, line } from '../../ui/canvas';
import { tasksInSight } from '../drawing/marks';
import type { Matches, Picture } from '../scene';
import { barPx } from '../scene';
import type { Evidence } from './evidence';

/** What is lit up: a band over all lanes for each time, and outlines around tasks; their colours are those of prefixes. */
export function paintEvidence(context: CanvasRenderingContext2D, picture: Picture, { spans, matches }: Evidence): void {
  const { layout, theme } = picture;
  clipped(context, [layout.plotLeftPx, 0, layout.plotWidthPx, layout.plotHeightPx], () => {
    context.fillStyle = context.strokeStyle = theme.accent;
    for (const { startS, stopS } of spans) {
      const { leftPx, rightPx } = barPx(picture, startS, stopS);
      const widthPx = Math.max(rightPx - leftPx, 2);
      context.fillRect(leftPx, 0, widthPx, 2);
      if (matches === null) {
        // With tasks a tint would take their colours off those of the legend.
        context.globalAlpha = 0.14;
        context.fillRect(leftPx, 0, widthPx, layout.plotHeightPx);
        context.globalAlpha = 1;
      }
      line(context, leftPx + 0.5, 0, leftPx + 0.5, layout.plotHeightPx);
      line(context, leftPx + widthPx - 0.5, 0, leftPx + widthPx - 0.5, layout.plotHeightPx);
    }
    if (matches !== null) {
      outlineMatches(context, picture, matches);
    }
  });
}

function outlineMatches(context: CanvasRenderingContext2D, picture: Picture, matches: Matches): void {
  const { layout, theme } = picture;
  context.strokeStyle = theme.ink;
  for (const { row, topPx } of layout.boxes) {
    const lane = row.kind === 'lane' ? matches.lane(row.id) : undefined;
    for (const task of lane === undefined ? [] : tasksInSight(lane, picture)) {
      const { leftPx, rightPx } = barPx(picture, lane?.startS[task] ?? 0, lane?.stopS[task] ?? 0);
      context.strokeRect(leftPx + 0.5, topPx + (layout.rowPx - layout.barPx) / 2 + 0.5, Math.max(rightPx - leftPx - 1, 1), layout.barPx - 1);
    }
  }
}
