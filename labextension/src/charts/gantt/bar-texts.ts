/** Names of prefixes on bars that are wide enough for them. */
import type { Rgb } from '../../lib/palette';
import { inkOn, parseColour } from '../../lib/palette';
import type { LaneTasks, TaskStore } from '../../store';
import { STATUS_BITS } from '../../store';
import type { Picture } from './picture';
import { barPx, isShown } from './picture';
import type { TextFitter } from './text-fitter';

/** Narrower bars have no text. */
const MIN_TEXT_PX = 42;
const MIN_BAR_PX = 13;
/** Lanes with more tasks in sight have no text on bars. */
const MAX_TEXTS = 2000;
const BLACK: Rgb = [0, 0, 0];

export function paintBarTexts(
  context: CanvasRenderingContext2D,
  store: TaskStore,
  picture: Picture,
  texts: TextFitter
): void {
  const { layout, prefixColour, sight } = picture;
  if (layout.barPx < MIN_BAR_PX) {
    return;
  }
  layout.boxes.forEach(({ row, topPx }) => {
    const lane = row.kind === 'lane' ? store.lane(row.id) : undefined;
    if (lane === undefined) {
      return;
    }
    for (const task of tasksInSight(lane, picture)) {
      const { leftPx, rightPx } = barPx(picture, lane.startS[task] ?? 0, lane.stopS[task] ?? 0);
      const plain = ((lane.flags[task] ?? 0) & STATUS_BITS) === 0;
      const prefix = lane.prefix[task] ?? 0;
      if (rightPx - leftPx >= MIN_TEXT_PX && plain && (sight.focus < 0 || sight.focus === prefix)) {
        const text = texts.fit(context, store.tables.prefixes[prefix] ?? '', rightPx - leftPx - 10);
        context.fillStyle = inkOn(parseColour(prefixColour(prefix)) ?? BLACK);
        context.fillText(text, leftPx + 5, topPx + layout.rowPx / 2 + 0.5);
      }
    }
  });
}

/** The tasks of a lane that the span touches; none where they are too many. */
function* tasksInSight(lane: LaneTasks, { scene, sight }: Picture): Generator<number> {
  const last = lane.firstStarting(scene.span.stopS);
  const first = lane.firstReaching(scene.span.startS);
  for (let i = last - first > MAX_TEXTS ? last : first; i < last; i += 1) {
    if (isShown(lane, i, scene.runs, sight)) {
      yield i;
    }
  }
}
