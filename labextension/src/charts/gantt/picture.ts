/** All that one painting of the chart needs to know. */
import { clamp, pxAt } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { LaneTasks, RunRange, Sight } from '../../store';
import type { GanttLayout } from './layout';
import type { Scene } from './model';

/** Where a bar is; one that is in flight has no row yet. */
export interface BarPlace {
  readonly lane: number;
  readonly startS: number;
  readonly stopS: number;
}

/** What is drawn above the bars. */
export type Overlay = (context: CanvasRenderingContext2D, picture: Picture) => void;

export interface Picture {
  readonly layout: GanttLayout;
  readonly scene: Scene;
  readonly theme: Theme;
  readonly prefixColour: (prefix: number) => string;
  readonly sight: Sight;
  /** A cursor line; null: none. */
  readonly cursorPx: number | null;
  /** A band that is being chosen; null: none. */
  readonly bandPx: readonly [number, number] | null;
  /** Lines between the selected task and others; null: none. */
  readonly overlay: Overlay | null;
  readonly hovered: BarPlace | null;
  readonly selected: BarPlace | null;
}

/** Where a bar begins and ends on the canvas, cut at the plot's edges. */
export function barPx({ layout, scene }: Picture, startS: number, stopS: number): { leftPx: number; rightPx: number } {
  const at = (timeS: number): number => clamp(pxAt(scene.span, layout.plotWidthPx, timeS), 0, layout.plotWidthPx);
  return { leftPx: layout.plotLeftPx + at(startS), rightPx: layout.plotLeftPx + at(stopS) };
}

/** Whether a task of a lane is shown at all. */
export function isShown(lane: LaneTasks, i: number, runs: RunRange, { hidden }: Sight): boolean {
  const run = lane.run[i] ?? 0;
  return (runs === null || (run >= runs[0] && run <= runs[1])) && hidden?.[lane.prefix[i] ?? 0] !== 1;
}
