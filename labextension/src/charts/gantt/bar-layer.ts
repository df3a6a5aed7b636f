/** What may be drawn over the bars, where there is something of the kind: activities of a cluster's workers. */
import type { Translate } from '../../lib/translate';
import type { RunWindow, TaskStore } from '../../store';
import type { Place } from './find-task';
import type { GanttLayout } from './layout';
import type { Scene } from './model';
import type { Picture } from './picture';
import type { TipContent } from './tooltip';

/** What the chart gives a layer. */
export interface BarLayerHost {
  readonly store: TaskStore;
  readonly window: RunWindow;
  readonly signal: AbortSignal;
  readonly t: Translate;
  /** Paint soon. */
  request(): void;
}

/** What to say of a place of a layer. */
export interface BarLayerTip {
  readonly kind: 'layer';
  readonly content: TipContent;
  readonly colour: string;
}

export interface BarLayer {
  /** Whether what was painted is not exact yet. */
  readonly rough: boolean;
  /** Put its legend after the chart's own, and its table among the chart's tables. */
  place(legend: HTMLElement, tables: HTMLElement): void;
  /** Say what there is now. */
  refresh(): void;
  /** Paint over the bars, in an image of `width` pixels a row, `ratio` to one of CSS. */
  paint(pixels: Uint32Array, width: number, picture: Picture, ratio: number): void;
  /** What to say of a place. `onTask`: a task is there too. */
  find(scene: Scene, layout: GanttLayout, place: Place, onTask: boolean): BarLayerTip | null;
}

/** Null: there is nothing that could be drawn. */
export type MakeBarLayer = (host: BarLayerHost) => BarLayer | null;
