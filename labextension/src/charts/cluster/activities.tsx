/** Activities of workers, over the bars of tasks. */
import { parseColour } from '../../lib/palette';
import type { Span } from '../../lib/span';
import { timeAt, widthS } from '../../lib/span';
import type { Theme } from '../../lib/theme';
import type { ActivitySum, ClusterStore, LaneTasks, RunRange } from '../../store';
import { ACTIVITIES } from '../../wire';
import { MeasuredRows } from '../tasks/drawing/measured';
import { hitTask } from '../tasks/finding/find-task';
import type { LaneLayer, LaneLayerContext } from '../tasks/lane-layer';
import type { LaneLayout } from '../tasks/layout';
import { rowAt } from '../tasks/layout';
import type { Picture, PrefixFilter, Scene } from '../tasks/scene';
import { coverageQuery } from '../tasks/scene';
import type { Tip } from '../timeline/track';
import type { CanvasPoint } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import { ActivityLegend, activityTable } from './activity-legend';
import { activityFacts } from './activity-tip';
import { building } from './building';
import { KIND_STYLES, cssColour } from './kinds';
import { hitLife, paintLife } from './life';
import { rangeLines } from './range';
import { ShownActivities } from './shown';
import { paintStrip, stripTop } from './strip';

const TOLERANCE_PX = 3;
const STYLES = ACTIVITIES.map(kind => KIND_STYLES[kind]);
const NOTHING_OPEN = { open: new Map<number, never[]>() };

export class ActivityLayer implements LaneLayer {
  /** 1 for each kind that is hidden, by its code. */
  readonly #hidden = new Uint8Array(ACTIVITIES.length);
  readonly #shown: ShownActivities;
  #rows = new MeasuredRows();
  #dark = false;
  #seen = '';
  #sums: readonly ActivitySum[] = [];

  constructor(
    private readonly context: LaneLayerContext,
    private readonly cluster: ClusterStore
  ) {
    this.#shown = new ShownActivities(context.store);
  }

  get isApproximate(): boolean {
    return this.#rows.isApproximate;
  }

  version(): string {
    const { window, store } = this.context;
    const seen = `${store.epoch ?? ''} ${this.cluster.activities.version} ${store.tables.remarks.length} ${window.firstRun} ${window.lastRun ?? ''} ${this.#hidden.join('')}`;
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#sums = this.cluster.activities.sums(window);
    }
    return seen;
  }

  legend(theme: Theme): ComponentChildren {
    return (
      <ActivityLegend
        sums={this.#sums} missing={this.cluster.activities.missing} hidden={this.#hidden} theme={theme}
        toggle={code => {
          this.#hidden[code] = 1 - (this.#hidden[code] as number);
          this.context.request();
        }}
      />
    );
  }

  tables(): readonly TextTable[] {
    return this.#sums.length === 0 ? [] : [activityTable(this.#sums)];
  }

  waitsFor(nowS: number): string | null {
    return building(this.context.store, this.context.window, nowS);
  }

  linesIn(span: Span, runs: RunRange): readonly string[] {
    return rangeLines(this.cluster, runs, span);
  }

  draw(pixels: Uint32Array, width: number, picture: Picture, ratio: number): void {
    this.#drawActivities(pixels, width, picture, ratio);
    paintLife(pixels, width, picture, this.context.store.tables, ratio);
  }

  #drawActivities(pixels: Uint32Array, width: number, picture: Picture, ratio: number): void {
    const { layout, scene, theme, filter, matches } = picture;
    this.#dark = theme.dark;
    if (this.cluster.activities.n === 0) {
      return;
    }
    if (this.#shown.hide(filter)) {
      this.#rows = new MeasuredRows();
    }
    const { activities } = this.cluster;
    const query = { ...coverageQuery(this.context.store, scene, this.#filter(), width), nPrefixes: ACTIVITIES.length };
    const source = { epoch: this.context.store.epoch, lane: (id: number): LaneTasks | undefined => this.#shown.of(activities.lane(id)) };
    const measured = this.#rows.measure(source, NOTHING_OPEN, layout.boxes.map(({ row }) => row), query);
    const colours = { dark: theme.dark, paper: parseColour(theme.lane) ?? [255, 255, 255], styles: STYLES, isBack: matches !== null } as const;
    measured.forEach((coverage, i) => {
      const topPx = layout.boxes[i]?.topPx;
      if (coverage !== null && topPx !== undefined) {
        const top = Math.round((topPx + (layout.rowPx - layout.barPx) / 2) * ratio);
        paintStrip(pixels, width, { top, height: Math.round(layout.barPx * ratio), ratio }, coverage, colours);
      }
    });
  }

  hit(scene: Scene, layout: LaneLayout, point: CanvasPoint, onTask: boolean): Tip | null {
    const box = rowAt(layout, point.yPx);
    const x = point.xPx - layout.plotLeftPx;
    if (box === null || x < 0 || x > layout.plotWidthPx) {
      return null;
    }
    const happened = hitLife(box.row, x, scene, layout, this.context.store.tables);
    if (happened !== null || box.row.kind !== 'lane') {
      return happened;
    }
    const barTop = box.topPx + (layout.rowPx - layout.barPx) / 2;
    if (onTask && point.yPx < stripTop({ top: barTop, height: layout.barPx, ratio: 1 })) {
      return null;
    }
    const { id } = box.row;
    const label = scene.lanes.find(lane => lane.id === id)?.label ?? box.row.label;
    const all = this.cluster.activities.lane(id);
    const lane = this.#shown.of(all);
    const timeS = timeAt(scene.span, layout.plotWidthPx, x);
    const nearS = (widthS(scene.span) / layout.plotWidthPx) * TOLERANCE_PX;
    const i = lane === undefined ? null : hitTask(lane, timeS, nearS, scene.runs, this.#filter());
    const at = i === null ? null : (all?.find(lane?.startS[i] ?? NaN, lane?.row[i] ?? -1) ?? null);
    const detail = at === null ? null : this.cluster.activities.detail(id, at);
    if (detail === null) {
      return null;
    }
    const { store } = this.context;
    const style = KIND_STYLES[detail.kind];
    return {
      kind: 'facts',
      facts: activityFacts(detail, label, scene.zeroS, store.tables, this.cluster),
      colour: cssColour(this.#dark ? style.dark : style.light)
    };
  }

  #filter(): PrefixFilter {
    return { hidden: this.#hidden.some(flag => flag === 1) ? this.#hidden : null, focus: -1 };
  }
}
