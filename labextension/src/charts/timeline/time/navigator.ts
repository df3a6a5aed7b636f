/** How gestures change which part of time is shown; no DOM. */
import type { Span } from '../../../lib/span';
import { MIN_SPAN_S, clamp, pan, timeAt, widthS, within, zoom } from '../../../lib/span';
import type { PlotBox } from '../drawing/room';
import type { TimeAxis } from './time-axis';
import type { TimeFrame, View } from './time-frame';

const MIN_FOLLOW_S = 1e-3;

export class Navigator {
  /** What was shown last. */
  frame: TimeFrame | null = null;

  /**
   * @param frameOf works out what a view shows now
   * @param chosen is called when a gesture changed the view
   */
  constructor(
    private readonly frameOf: (view: View) => TimeFrame | null,
    private readonly axis: TimeAxis,
    private readonly chosen: (view: View) => void
  ) {}

  get following(): boolean {
    return this.axis.view.kind === 'follow';
  }

  /** Work out what is shown now. */
  refresh(): TimeFrame | null {
    this.frame = this.frameOf(this.axis.view);
    return this.frame;
  }

  /** Scale around a place of the canvas; null: its middle, or the present while it is followed. */
  zoom(factor: number, atPx: number | null, box: PlotBox): void {
    const { frame } = this;
    if (frame === null) {
      return;
    }
    if (this.following && atPx === null) {
      const width = clamp(widthS(frame.span) * factor, MIN_FOLLOW_S, widthS(frame.bounds));
      this.#choose({ kind: 'follow', widthS: width });
      return;
    }
    const px = atPx === null ? box.plotWidthPx / 2 : clamp(atPx - box.plotLeftPx, 0, box.plotWidthPx);
    const aroundS = timeAt(frame.span, box.plotWidthPx, px);
    this.#chooseSpan(zoom(frame.span, factor, aroundS, frame.bounds), frame);
  }

  /** Move by pixels, to the right where positive. */
  pan(px: number, box: PlotBox): void {
    const { frame } = this;
    if (frame !== null) {
      const deltaS = (px / box.plotWidthPx) * widthS(frame.span);
      this.#chooseSpan(pan(frame.span, deltaS, frame.bounds), frame);
    }
  }

  /** The time at a place of the canvas; null outside of the plot. */
  timeAt(xPx: number, { plotLeftPx, plotWidthPx }: PlotBox): number | null {
    const px = xPx - plotLeftPx;
    return this.frame !== null && px >= 0 && px <= plotWidthPx ? timeAt(this.frame.span, plotWidthPx, px) : null;
  }

  /** The span between two places of the canvas; null while nothing is shown. */
  spanOf([leftPx, rightPx]: readonly [number, number], box: PlotBox): Span | null {
    const { frame } = this;
    if (frame === null) {
      return null;
    }
    const [startS, stopS] = [leftPx, rightPx].map(px =>
      timeAt(frame.span, box.plotWidthPx, clamp(px - box.plotLeftPx, 0, box.plotWidthPx))
    ) as [number, number];
    return { startS, stopS };
  }

  /** Show a span, as far as there is something; too short a one is widened. */
  show({ startS, stopS }: Span): void {
    const { frame } = this;
    if (frame !== null) {
      const width = clamp(stopS - startS, MIN_SPAN_S, widthS(frame.bounds));
      const middleS = (startS + stopS) / 2;
      this.#chooseSpan(within({ startS: middleS - width / 2, stopS: middleS + width / 2 }, frame.bounds), frame);
    }
  }

  /** Move, at the same scale, so that a span is in sight. */
  reveal({ startS, stopS }: Span): void {
    const span = this.frame?.span;
    if (span !== undefined && (startS < span.startS || stopS > span.stopS)) {
      const width = Math.max(widthS(span), (stopS - startS) * 1.2);
      const middleS = (startS + stopS) / 2;
      this.show({ startS: middleS - width / 2, stopS: middleS + width / 2 });
    }
  }

  fit(): void {
    this.#choose({ kind: 'fit' });
  }

  toggleFollow(): void {
    this.#choose(this.following ? this.#frozen() : { kind: 'follow', widthS: null });
  }

  /** As the host says; not reported back. */
  setFollow(follow: boolean): void {
    if (follow !== this.following) {
      this.axis.show(follow ? { kind: 'follow', widthS: null } : this.#frozen());
    }
  }

  /** As the host says; not reported back. Empty and backward ranges are ignored. */
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    if (range === null) {
      this.axis.show(this.axis.view.kind === 'free' ? { kind: 'fit' } : this.axis.view);
    } else if (range[1] > range[0]) {
      this.axis.show({ kind: 'free', span: { startS: range[0], stopS: range[1] } });
    }
  }

  #chooseSpan(span: Span, { bounds }: TimeFrame): void {
    // All of it stays all of it when more comes; but what is over is not left for what runs now.
    const isAll = span === bounds && this.frameOf({ kind: 'fit' })?.bounds.startS === bounds.startS;
    this.#choose(isAll ? { kind: 'fit' } : { kind: 'free', span });
  }

  #frozen(): View {
    return this.frame === null ? { kind: 'fit' } : { kind: 'free', span: this.frame.span };
  }

  /** The next gesture starts from here, even if no frame was painted in between. */
  #choose(view: View): void {
    this.axis.show(view);
    this.refresh();
    this.chosen(view);
  }
}
