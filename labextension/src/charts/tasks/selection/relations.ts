/** What the selected task needs and what needs it, as lines between bars; bounded, and said in words. */
import { formatCount } from '../../../lib/format';
import { pxAt } from '../../../lib/span';
import { trans } from '../../../lib/translate';
import type { Link, Links, TaskStore } from '../../../store';
import { clipped } from '../../ui/canvas';
import type { FoundTask } from '../finding/find-task';
import type { Picture, Relation } from '../scene';

/** Lines drawn at most, for what it needs and for what needs it each. */
export const MAX_LINES = 100;

/** The lines around a task, as far as both ends are here. */
export function relationsOf(store: TaskStore, { ref, detail }: FoundTask, links: Links): Relation[] {
  if (links.kind !== 'known') {
    return [];
  }
  const here = { lane: ref.lane, ...detail };
  const dependencies = endsOf(store, links.dependencies).map(end => between('dependency', end, here));
  return [...dependencies, ...endsOf(store, links.dependents).map(end => between('dependent', here, end))];
}

/** Why nothing is known of dependencies; empty while an answer may come at once. */
export function unknownText(links: Exclude<Links, { readonly kind: 'known' }>): string {
  if (links.kind === 'unknown') {
    return trans.__('Dependencies are not known here: the kernel that computed knows them, and recording.to_pandas("dependencies").');
  }
  return links.isLate ? trans.__('Dependencies: the kernel does not answer while it is busy; they come when it does.') : '';
}

/** What the lines are, and how many of them are not drawn. */
export function linesText({ nDependencies, nDependents }: Extract<Links, { readonly kind: 'known' }>, drawn: readonly Relation[]): string {
  const text = trans.__('Solid lines come from what it depends on, dashed ones lead to what needs it.');
  const missing = nDependencies + nDependents - drawn.length;
  return missing === 0 ? text : `${text} ${trans.__('%1 not drawn: data, not ended, no longer kept, or beyond %2 lines.', formatCount(missing), String(MAX_LINES))}`;
}

export function paintRelations(context: CanvasRenderingContext2D, { layout, scene, theme, relations }: Picture): void {
  const rowOf = new Map<number, number>();
  scene.rows.forEach((row, i) => {
    for (const lane of row.kind === 'lane' ? [row.id] : row.collapsed ? row.lanes : []) {
      rowOf.set(lane, i);
    }
  });
  const at = (lane: number, timeS: number): [x: number, y: number] => [
    layout.plotLeftPx + pxAt(scene.span, layout.plotWidthPx, timeS),
    ((rowOf.get(lane) ?? -1) + 0.5) * layout.rowPx - layout.scrollPx
  ];
  clipped(context, [layout.plotLeftPx, 0, layout.plotWidthPx, layout.plotHeightPx], () => {
    for (const [colour, widthPx] of [[theme.paper, 3.5], [theme.ink, 1.5]] as const) {
      context.strokeStyle = colour;
      context.lineWidth = widthPx;
      for (const { kind, fromLane, fromS, toLane, toS } of relations) {
        context.setLineDash(kind === 'dependency' ? [] : [5, 3]);
        curve(context, at(fromLane, fromS), at(toLane, toS));
      }
    }
    context.setLineDash([]);
    context.lineWidth = 1;
  });
}

interface End {
  readonly lane: number;
  readonly startS: number;
  readonly stopS: number;
}

function endsOf(store: TaskStore, links: readonly Link[]): End[] {
  return links
    .flatMap(({ place }) => {
      const lane = place === null ? undefined : store.lane(place.lane);
      const i = place === null ? null : (lane?.find(place.startS, place.row) ?? null);
      return place === null || lane === undefined || i === null
        ? []
        : [{ lane: place.lane, startS: place.startS, stopS: lane.stopS[i] ?? place.startS }];
    })
    .slice(0, MAX_LINES);
}

function between(kind: Relation['kind'], from: End, to: End): Relation {
  return { kind, fromLane: from.lane, fromS: from.stopS, toLane: to.lane, toS: to.startS };
}

function curve(context: CanvasRenderingContext2D, [x0, y0]: [number, number], [x1, y1]: [number, number]): void {
  const bend = Math.max(Math.abs(x1 - x0) / 2, 12);
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
}
