/** A track that shares the rows of the tasks, and is drawn over their bars: activities of a cluster's workers. */
import type { Span } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { RunRange, RunWindow, TaskStore } from '../../store';
import type { Tip } from '../timeline/track';
import type { CanvasPoint } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { LaneLayout } from './layout';
import type { Picture, Scene } from './scene';

/** What the tasks give a layer. */
export interface LaneLayerContext {
  readonly store: TaskStore;
  readonly window: RunWindow;
  /** Paint soon. */
  request(): void;
}

/** The same words as a track has, without a room of its own. */
export interface LaneLayer {
  /** Whether what was drawn last is not exact yet. */
  readonly isApproximate: boolean;
  /** Is another text where words or pictures are others. */
  version(): string;
  /** Draw over the bars, in an image of `width` pixels a row, `ratio` to one of CSS. */
  draw(pixels: Uint32Array, width: number, picture: Picture, ratio: number): void;
  /** What there is at a point. `onTask`: a task is there too. */
  hit(scene: Scene, layout: LaneLayout, point: CanvasPoint, onTask: boolean): Tip | null;
  legend(theme: Theme): ComponentChildren;
  tables(): readonly TextTable[];
  /** What is waited for while no task is known yet; null: for the first task, as far as one can tell. */
  waitsFor(nowS: number): string | null;
  /** What there is to say of a span of some computes, a line each. */
  linesIn(span: Span, runs: RunRange): readonly string[];
}

/** Null: there is nothing that could be drawn. */
export type MakeLaneLayer = (context: LaneLayerContext) => LaneLayer | null;
