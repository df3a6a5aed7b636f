/** Time below the bars, the present, and the line under the pointer. */
import { clamp, pxAt } from '../../lib/span';
import type { PlotBox } from '../ui/navigator';
import { fittingTicks } from './layout';
import type { Scene } from './model';
import type { Picture } from './picture';
import { line } from './strokes';

export function paintAxis(context: CanvasRenderingContext2D, { layout, scene, theme, cursorPx }: Picture): void {
  const { plotLeftPx: left, plotWidthPx: width, plotHeightPx: top } = layout;
  context.strokeStyle = theme.line;
  line(context, left, top + 0.5, left + width, top + 0.5);
  const places = layout.ticks.map(tick => ({
    px: pxAt(scene.span, width, tick.timeS),
    labelPx: context.measureText(tick.label).width,
    label: tick.label
  }));
  const fits = fittingTicks(places, width);
  context.fillStyle = theme.faint;
  context.textAlign = 'left';
  places.forEach(({ px, labelPx, label }, i) => {
    const x = Math.round(left + px) + 0.5;
    line(context, x, top, x, top + 4);
    if (fits[i] === true) {
      context.fillText(label, left + clamp(px - labelPx / 2, 0, width - labelPx), top + 15);
    }
  });
  if (scene.growing) {
    context.strokeStyle = theme.accent;
    const x = Math.round(left + pxAt(scene.span, width, scene.nowS)) + 0.5;
    if (x > left && x < left + width) {
      line(context, x, 0, x, top + 4);
    }
  }
  if (cursorPx !== null) {
    context.strokeStyle = theme.faint;
    context.globalAlpha = 0.5;
    line(context, Math.round(cursorPx) + 0.5, 0, Math.round(cursorPx) + 0.5, top);
    context.globalAlpha = 1;
  }
}

/** Where the line at the shared cursor stands; null outside of the bars. */
export function cursorPx({ plotLeftPx, plotWidthPx }: PlotBox, { span }: Scene, cursorS: number | null): number | null {
  const px = cursorS === null ? -1 : pxAt(span, plotWidthPx, cursorS);
  return px >= 0 && px <= plotWidthPx ? plotLeftPx + px : null;
}
