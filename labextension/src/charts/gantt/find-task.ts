/** What is under the pointer. */
import { timeAt, widthS } from '../../lib/span';
import type { TaskDetail, TaskStore } from '../../store';
import type { TaskRef } from './draw';
import { countTouching, hitTask } from './hit';
import type { GanttLayout } from './layout';
import { laneAt } from './layout';
import type { Scene } from './model';

/** A place of the canvas. */
export interface Place {
  readonly xPx: number;
  readonly yPx: number;
}

export interface Found {
  readonly ref: TaskRef;
  readonly detail: TaskDetail;
  /** Of its lane. */
  readonly label: string;
  /** Tasks that touch the same pixel, itself included. */
  readonly sharing: number;
}

const TOLERANCE_PX = 3;

/** The task at a place, or the nearest one within a few pixels. */
export function findTask(store: TaskStore, scene: Scene, layout: GanttLayout, place: Place): Found | null {
  const box = laneAt(layout, place.yPx);
  const lane = box === null ? undefined : store.lane(box.id);
  const x = place.xPx - layout.plotLeftPx;
  if (box === null || lane === undefined || x < 0 || x > layout.plotWidthPx) {
    return null;
  }
  const timeS = timeAt(scene.span, layout.plotWidthPx, x);
  const pixelS = widthS(scene.span) / layout.plotWidthPx;
  const i = hitTask(lane, timeS, pixelS * TOLERANCE_PX, scene.runs);
  const detail = i === null ? null : store.detail(box.id, i);
  if (i === null || detail === null) {
    return null;
  }
  return {
    ref: { lane: box.id, row: lane.row[i] ?? 0, startS: detail.startS },
    detail,
    label: box.label,
    sharing: countTouching(lane, timeS - pixelS / 2, timeS + pixelS / 2)
  };
}
