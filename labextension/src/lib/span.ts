/** Spans of time and their place on the screen; pure geometry. */

/** From `startS` to `stopS`, in seconds after the recorder's zero. */
export interface Span {
  readonly startS: number;
  readonly stopS: number;
}

/** The shortest span that can be zoomed to: below it, doubles run out of digits. */
export const MIN_SPAN_S = 1e-6;

export function widthS(span: Span): number {
  return span.stopS - span.startS;
}

/** Where a time lies on a plot that is `widthPx` wide; may be outside of it. */
export function pxAt(span: Span, widthPx: number, timeS: number): number {
  return ((timeS - span.startS) / widthS(span)) * widthPx;
}

/** The time at a place of a plot that is `widthPx` wide. */
export function timeAt(span: Span, widthPx: number, px: number): number {
  return span.startS + (px / widthPx) * widthS(span);
}

/** Scale a span by `factor` (below 1: zoom in) so that `aroundS` stays at its place, within `bounds`. */
export function zoom(span: Span, factor: number, aroundS: number, bounds: Span): Span {
  const width = clamp(widthS(span) * factor, MIN_SPAN_S, widthS(bounds));
  const share = (aroundS - span.startS) / widthS(span);
  return within({ startS: aroundS - share * width, stopS: aroundS + (1 - share) * width }, bounds);
}

/** Move a span by `deltaS`, within `bounds`. */
export function pan(span: Span, deltaS: number, bounds: Span): Span {
  return within({ startS: span.startS + deltaS, stopS: span.stopS + deltaS }, bounds);
}

/** The span of the same width that lies in `bounds`; `bounds` itself where it is wider. */
export function within(span: Span, bounds: Span): Span {
  const width = widthS(span);
  if (!(width < widthS(bounds))) {
    return bounds;
  }
  const startS = clamp(span.startS, bounds.startS, bounds.stopS - width);
  return { startS, stopS: startS + width };
}

/** The span around some work with a margin of 2% after it, never empty. */
export function padded(startS: number, stopS: number): Span {
  const width = Math.max(stopS - startS, 1e-3);
  return { startS, stopS: startS + width * 1.02 };
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
