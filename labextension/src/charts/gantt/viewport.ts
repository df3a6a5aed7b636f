/** Which part of time is shown, and how gestures change it; no DOM. */
import type { Span } from '../../lib/span';
import { clamp, pan, timeAt, widthS, zoom } from '../../lib/span';
import type { RunWindow, TaskStore } from '../../store';
import type { Scene, View } from './model';
import { sceneOf } from './model';

/** Where the bars are, as gestures need it. */
export interface PlotBox {
  readonly plotLeftPx: number;
  readonly plotWidthPx: number;
}

const MIN_FOLLOW_S = 1e-3;

export class Viewport {
  scene: Scene | null = null;
  #view: View;

  /** @param chosen is called when a gesture changed the view */
  constructor(
    private readonly store: TaskStore,
    private readonly window: RunWindow,
    follow: boolean,
    private readonly chosen: (view: View) => void
  ) {
    this.#view = follow ? { kind: 'follow', widthS: null } : { kind: 'fit' };
  }

  get following(): boolean {
    return this.#view.kind === 'follow';
  }

  /** Work out what is shown now. */
  refresh(): Scene | null {
    this.scene = sceneOf(this.store, this.window, this.#view);
    return this.scene;
  }

  /** Scale around a place of the canvas; null: its middle, or the present while it is followed. */
  zoom(factor: number, atPx: number | null, box: PlotBox): void {
    const { scene } = this;
    if (scene === null) {
      return;
    }
    if (this.following && atPx === null) {
      const width = clamp(widthS(scene.span) * factor, MIN_FOLLOW_S, widthS(scene.bounds));
      this.#choose({ kind: 'follow', widthS: width });
      return;
    }
    const px = atPx === null ? box.plotWidthPx / 2 : clamp(atPx - box.plotLeftPx, 0, box.plotWidthPx);
    const aroundS = timeAt(scene.span, box.plotWidthPx, px);
    this.#chooseSpan(zoom(scene.span, factor, aroundS, scene.bounds), scene);
  }

  /** Move by pixels, to the right where positive. */
  pan(px: number, box: PlotBox): void {
    const { scene } = this;
    if (scene !== null) {
      const deltaS = (px / box.plotWidthPx) * widthS(scene.span);
      this.#chooseSpan(pan(scene.span, deltaS, scene.bounds), scene);
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
      this.#view = follow ? { kind: 'follow', widthS: null } : this.#frozen();
    }
  }

  /** As the host says; not reported back. Empty and backward ranges are ignored. */
  setTimeRange(range: readonly [startS: number, stopS: number] | null): void {
    if (range === null) {
      this.#view = this.#view.kind === 'free' ? { kind: 'fit' } : this.#view;
    } else if (range[1] > range[0]) {
      this.#view = { kind: 'free', span: { startS: range[0], stopS: range[1] } };
    }
  }

  #chooseSpan(span: Span, { bounds }: Scene): void {
    // All of it stays all of it when more comes.
    this.#choose(span === bounds ? { kind: 'fit' } : { kind: 'free', span });
  }

  #frozen(): View {
    return this.scene === null ? { kind: 'fit' } : { kind: 'free', span: this.scene.span };
  }

  /** The next gesture starts from here, even if no frame was painted in between. */
  #choose(view: View): void {
    this.#view = view;
    this.refresh();
    this.chosen(view);
  }
}
