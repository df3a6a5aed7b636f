/** Flags for failures too short to be seen among their neighbours, a shape for each kind. */
import type { CoverageColumns } from '../../store';
import { MARK } from '../../store';
import type { Failure } from './bars';
import { lostFailures } from './bars';
import type { Picture } from './picture';
import { line, shape } from './strokes';

const GAP_PX = 6;

export function paintFlags(
  context: CanvasRenderingContext2D,
  { layout, theme }: Picture,
  measured: readonly (CoverageColumns | null)[],
  ratio: number
): void {
  context.fillStyle = theme.error;
  context.strokeStyle = theme.paper;
  layout.boxes.forEach(({ topPx }, i) => {
    const coverage = measured[i];
    const top = topPx + (layout.rowPx - layout.barPx) / 2;
    for (const failure of coverage ? lostFailures(coverage, GAP_PX * ratio) : []) {
      flag(context, layout.plotLeftPx + (failure.column + 0.5) / ratio, top, failure);
    }
  });
}

/** At the row's upper edge: a triangle for erred, a barred square for interrupted, a diamond for lost. */
function flag(context: CanvasRenderingContext2D, x: number, top: number, { kind }: Failure): void {
  if (kind === MARK.erred) {
    shape(context, [[x - 4.5, top - 1], [x + 4.5, top - 1], [x, top + 7]]);
  } else if (kind === MARK.interrupted) {
    shape(context, [[x - 4, top - 1], [x + 4, top - 1], [x + 4, top + 7], [x - 4, top + 7]]);
    line(context, x - 4, top + 3, x + 4, top + 3);
  } else {
    shape(context, [[x, top - 2], [x + 5, top + 3], [x, top + 8], [x - 5, top + 3]]);
  }
}
