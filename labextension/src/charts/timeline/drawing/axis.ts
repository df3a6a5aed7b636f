/** Time below a track, the present, the line at the shared cursor, and the span that is being chosen. */
import type { Span } from '../../../lib/span';
import { clamp, pxAt } from '../../../lib/span';
import type { Brush } from './brush';

/** How much the axis takes below a track. */
export const AXIS_PX = 26;

export function paintTimeAxis(brush: Brush): void {
  const { context, room, frame, theme } = brush;
  const { plotLeftPx: left, plotWidthPx: width, heightPx: top } = room;
  context.strokeStyle = theme.line;
  brush.line(left, top + 0.5, left + width, top + 0.5);
  const places = room.ticks.map(({ timeS, label }) => ({
    px: pxAt(frame.span, width, timeS),
    labelPx: context.measureText(label).width,
    label
  }));
  const fits = fittingTicks(places, width);
  context.fillStyle = theme.faint;
  context.textAlign = 'left';
  places.forEach(({ px, labelPx, label }, i) => {
    const x = Math.round(left + px) + 0.5;
    brush.line(x, top, x, top + 4);
    if (fits[i] === true) {
      context.fillText(label, left + clamp(px - labelPx / 2, 0, width - labelPx), top + 15);
    }
  });
}

/** What moves over a track. */
export interface Pointed {
  /** In seconds after the recorder's zero; null: the pointer is nowhere. */
  readonly cursorS: number | null;
  readonly bandPx: readonly [number, number] | null;
  /** The time that is selected. */
  readonly range: Span | null;
}

export function paintPointed(brush: Brush, { cursorS, bandPx, range }: Pointed, hasAxis: boolean): void {
  const { context, room, frame, theme } = brush;
  const { plotLeftPx: left, plotWidthPx: width, heightPx: bottom } = room;
  const upright = (timeS: number, colour: string): void => {
    const px = pxAt(frame.span, width, timeS);
    if (px >= 0 && px <= width) {
      context.strokeStyle = colour;
      const x = Math.round(left + px) + 0.5;
      brush.line(x, 0, x, bottom);
    }
  };
  if (frame.growing) {
    upright(frame.nowS, theme.accent);
  }
  if (cursorS !== null) {
    context.globalAlpha = 0.5;
    upright(cursorS, theme.faint);
    context.globalAlpha = 1;
  }
  const box = (from: number, to: number, strength: number): void => {
    context.fillStyle = context.strokeStyle = theme.accent;
    context.globalAlpha = strength;
    context.fillRect(from, 0, to - from, bottom);
    context.globalAlpha = 1;
    context.strokeRect(from, 0.5, to - from, bottom - 1);
  };
  if (range !== null && range.startS < frame.span.stopS && range.stopS > frame.span.startS) {
    const [from, to] = [range.startS, range.stopS].map(timeS => left + clamp(pxAt(frame.span, width, timeS), 0, width)) as [number, number];
    box(from, to, 0.08);
    if (hasAxis) {
      // What was dragged on the ruler is seen on it.
      context.fillRect(from, bottom, to - from, 4);
    }
  }
  if (bandPx !== null) {
    const [from, to] = bandPx.map(px => clamp(px, left, left + width)) as [number, number];
    box(Math.min(from, to), Math.max(from, to), 0.18);
  }
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
