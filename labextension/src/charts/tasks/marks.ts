/** What stands above the bars and left of them: names, flags of failures, outlines, labels of lanes. */
import { formatCount } from '../../lib/format';
import type { Rgb } from '../../lib/palette';
import { inkOn, parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import type { CoverageColumns, LaneTasks, TaskStore } from '../../store';
import { MARK, STATUS_BITS } from '../../store';
import type { Box } from '../timeline/drawing';
import type { TextFitter } from '../ui/canvas';
import { clipped, line, shape } from '../ui/canvas';
import type { Failure } from './bars';
import { lostFailures } from './bars';
import type { WorkerRow } from './rows';
import { rowOfLane } from './rows';
import type { BarPlace, Painting } from './scene';
import { barPx, isShown } from './scene';

/** Narrower bars have no text. */
const MIN_TEXT_PX = 42;
const MIN_BAR_PX = 13;
/** Lanes with more tasks in sight have no text on bars. */
const MAX_TEXTS = 2000;
const BLACK: Rgb = [0, 0, 0];

export function paintBarTexts(
  context: CanvasRenderingContext2D,
  store: TaskStore,
  painting: Painting,
  texts: TextFitter
): void {
  const { layout, prefixColour, filter, matches } = painting;
  if (layout.barPx < MIN_BAR_PX) {
    return;
  }
  layout.boxes.forEach(({ row, topPx }) => {
    const lane = row.kind === 'lane' ? (matches ?? store).lane(row.id) : undefined;
    if (lane === undefined) {
      return;
    }
    for (const task of tasksInSight(lane, painting)) {
      const { leftPx, rightPx } = barPx(painting, lane.startS[task] ?? 0, lane.stopS[task] ?? 0);
      const plain = ((lane.flags[task] ?? 0) & STATUS_BITS) === 0;
      const prefix = lane.prefix[task] ?? 0;
      if (rightPx - leftPx >= MIN_TEXT_PX && plain && (filter.focus < 0 || filter.focus === prefix)) {
        const text = texts.fit(context, store.tables.prefixes[prefix] ?? '', rightPx - leftPx - 10);
        context.fillStyle = inkOn(parseColour(prefixColour(prefix)) ?? BLACK);
        context.fillText(text, leftPx + 5, topPx + layout.rowPx / 2 + 0.5);
      }
    }
  });
}

/** The tasks of a lane that the span touches; none where they are too many. */
export function* tasksInSight(lane: LaneTasks, { scene, filter }: Painting): Generator<number> {
  const last = lane.firstStarting(scene.span.stopS);
  const first = lane.firstReaching(scene.span.startS);
  for (let i = last - first > MAX_TEXTS ? last : first; i < last; i += 1) {
    if (isShown(lane, i, scene.runs, filter)) {
      yield i;
    }
  }
}

const GAP_PX = 6;

export function paintFlags(
  context: CanvasRenderingContext2D,
  { layout, theme }: Painting,
  measured: readonly (CoverageColumns | null)[],
  ratio: number
): void {
  context.strokeStyle = theme.paper;
  layout.boxes.forEach(({ topPx }, i) => {
    const coverage = measured[i];
    const top = topPx + (layout.rowPx - layout.barPx) / 2;
    for (const failure of coverage ? lostFailures(coverage, GAP_PX * ratio) : []) {
      context.fillStyle = failure.kind === MARK.interrupted ? theme.stopped : theme.error;
      flag(context, layout.plotLeftPx + (failure.column + 0.5) / ratio, top, failure);
    }
  });
}

/** At the row's upper edge: a triangle for erred, a barred square for interrupted, a diamond for lost. */
function flag(context: CanvasRenderingContext2D, x: number, top: number, { kind }: Failure): void {
  if (kind === MARK.erred) {
    shape(context, [[x - 4.5, top - 1], [x + 4.5, top - 1], [x, top + 7]]);
  } else if (kind === MARK.interrupted) {
    shape(context, [[x - 4, top - 1], [x + 4, top - 1], [x + 4, top + 7], [x - 4, top + 7]]);
    line(context, x - 4, top + 3, x + 4, top + 3);
  } else {
    shape(context, [[x, top - 2], [x + 5, top + 3], [x, top + 8], [x - 5, top + 3]]);
  }
}

export function paintSelected(context: CanvasRenderingContext2D, painting: Painting): void {
  const { layout, theme, selected } = painting;
  const box = selected === null ? null : outlineOf(painting, selected);
  if (box !== null) {
    clipped(context, [layout.plotLeftPx - 2, 0, layout.plotWidthPx + 4, layout.plotHeightPx], () => {
      context.strokeStyle = theme.accent;
      context.lineWidth = 2.5;
      context.strokeRect(box.leftPx + 0.5, box.topPx + 0.5, box.widthPx - 1, box.heightPx - 1);
      context.lineWidth = 1;
    });
  }
}

/** The box around a bar; null: its row is not in sight. */
export function outlineOf(painting: Pick<Painting, 'layout' | 'scene'>, bar: BarPlace): Box | null {
  const { layout } = painting;
  const box = layout.boxes[rowOfLane(layout.boxes.map(({ row }) => row), bar.lane)];
  if (box === undefined) {
    return null;
  }
  const { leftPx, rightPx } = barPx(painting, bar.startS, bar.stopS);
  return { leftPx: leftPx - 1, topPx: box.topPx + (layout.rowPx - layout.barPx) / 2, widthPx: Math.max(rightPx - leftPx, 2) + 2, heightPx: layout.barPx };
}

export function paintGutter(context: CanvasRenderingContext2D, { layout, theme }: Painting, texts: TextFitter): void {
  clipped(context, [0, 0, layout.plotLeftPx, layout.plotHeightPx], () => {
    for (const { row, topPx } of layout.boxes) {
      const y = topPx + layout.rowPx / 2 + 0.5;
      if (row.kind === 'lane') {
        context.fillStyle = theme.faint;
        context.textAlign = 'right';
        context.fillText(texts.fit(context, row.label, layout.plotLeftPx - (row.inset ? 20 : 14), 'middle'), layout.plotLeftPx - 8, y);
      } else {
        paintWorker(context, row, y, layout.plotLeftPx, theme, texts);
      }
    }
  });
}

function paintWorker(
  context: CanvasRenderingContext2D,
  { label, lanes, collapsed }: WorkerRow,
  y: number,
  rightPx: number,
  { ink, paper }: Theme,
  texts: TextFitter
): void {
  const roomPx = rightPx - 8 - 18;
  const full = `×${formatCount(lanes.length)}`;
  const fullPx = context.measureText(full).width + 6;
  // Where both do not fit, the name says more than the number, which is in the button's title too.
  const [count, countPx] = context.measureText(label).width + fullPx <= roomPx || rightPx > 100 ? [full, fullPx] : ['', 0];
  context.fillStyle = ink;
  context.strokeStyle = paper;
  shape(context, collapsed ? [[6, y - 4.5], [12, y], [6, y + 4.5]] : [[4.5, y - 3], [13.5, y - 3], [9, y + 3]]);
  context.textAlign = 'right';
  context.fillText(count, rightPx - 8, y);
  context.textAlign = 'left';
  context.fillText(texts.fit(context, label, roomPx - countPx, 'middle'), 18, y);
}
