/** Activities over the bars of the Gantt chart. */
import { parseColour } from '../../lib/palette';
import { timeAt, widthS } from '../../lib/span';
import type { ClusterStore, LaneTasks, Sight } from '../../store';
import { ACTIVITIES } from '../../wire';
import type { Place } from '../gantt/find-task';
import { hitTask } from '../gantt/hit';
import type { GanttLayout } from '../gantt/layout';
import { rowAt } from '../gantt/layout';
import { lookOf } from '../gantt/look';
import { MeasuredRows } from '../gantt/measured';
import type { Scene } from '../gantt/model';
import type { BarLayer, BarLayerHost, BarLayerTip } from '../gantt/bar-layer';
import type { Picture } from '../gantt/picture';
import { element } from '../ui/dom';
import { fillTable } from '../ui/text-table';
import { activityTip } from './activity-tip';
import { KIND_LOOKS, cssColour } from './kinds';
import { ActivityLegend, activityTable } from './legend';
import { ShownActivities } from './shown';
import { paintStrip, stripTop } from './strip';

const TOLERANCE_PX = 3;
const LOOKS = ACTIVITIES.map(kind => KIND_LOOKS[kind]);
const NOTHING_OPEN = { open: new Map<number, never[]>() };

export class ActivityLayer implements BarLayer {
  readonly #table = element('table');
  readonly #legend: ActivityLegend;
  readonly #shown: ShownActivities;
  #rows = new MeasuredRows();
  #dark = false;
  #seen = '';

  constructor(
    private readonly host: BarLayerHost,
    private readonly cluster: ClusterStore
  ) {
    this.#shown = new ShownActivities(host.store);
    this.#legend = new ActivityLegend(() => { host.request(); }, host.signal, host.t);
  }

  place(legend: HTMLElement, tables: HTMLElement): void {
    legend.after(this.#legend.el);
    tables.append(this.#table);
  }

  get rough(): boolean {
    return this.#rows.rough;
  }

  refresh(): void {
    const { window, t, store } = this.host;
    const { activities } = this.cluster;
    const seen = `${store.epoch ?? ''} ${activities.version} ${window.firstRun} ${this.#legend.hidden.join('')}`;
    if (seen !== this.#seen) {
      this.#seen = seen;
      const sums = activities.sums(window);
      this.#legend.refresh(sums, activities.missing);
      this.#table.hidden = sums.length === 0;
      fillTable(this.#table, activityTable(sums, t));
    }
  }

  paint(pixels: Uint32Array, width: number, picture: Picture, ratio: number): void {
    const { layout, scene, theme, sight } = picture;
    this.#legend.paint(theme);
    this.#dark = theme.dark;
    if (this.cluster.activities.n === 0) {
      return;
    }
    if (this.#shown.hide(sight)) {
      this.#rows = new MeasuredRows();
    }
    const { activities } = this.cluster;
    const look = { ...lookOf(this.host.store, scene, this.#sight(), width), nPrefixes: ACTIVITIES.length };
    const source = { epoch: this.host.store.epoch, lane: (id: number): LaneTasks | undefined => this.#shown.of(activities.lane(id)) };
    const measured = this.#rows.measure(source, NOTHING_OPEN, layout.boxes.map(({ row }) => row), look);
    const colours = { dark: theme.dark, paper: parseColour(theme.lane) ?? [255, 255, 255], looks: LOOKS } as const;
    measured.forEach((coverage, i) => {
      const topPx = layout.boxes[i]?.topPx;
      if (coverage !== null && topPx !== undefined) {
        const top = Math.round((topPx + (layout.rowPx - layout.barPx) / 2) * ratio);
        paintStrip(pixels, width, { top, height: Math.round(layout.barPx * ratio), ratio }, coverage, colours);
      }
    });
  }

  find(scene: Scene, layout: GanttLayout, place: Place, onTask: boolean): BarLayerTip | null {
    const box = rowAt(layout, place.yPx);
    const x = place.xPx - layout.plotLeftPx;
    if (box?.row.kind !== 'lane' || x < 0 || x > layout.plotWidthPx) {
      return null;
    }
    const barTop = box.topPx + (layout.rowPx - layout.barPx) / 2;
    if (onTask && place.yPx < stripTop({ top: barTop, height: layout.barPx, ratio: 1 })) {
      return null;
    }
    const { id, label } = box.row;
    const all = this.cluster.activities.lane(id);
    const lane = this.#shown.of(all);
    const timeS = timeAt(scene.span, layout.plotWidthPx, x);
    const nearS = (widthS(scene.span) / layout.plotWidthPx) * TOLERANCE_PX;
    const i = lane === undefined ? null : hitTask(lane, timeS, nearS, scene.runs, this.#sight());
    const at = i === null ? null : (all?.find(lane?.startS[i] ?? NaN, lane?.row[i] ?? -1) ?? null);
    const detail = at === null ? null : this.cluster.activities.detail(id, at);
    if (detail === null) {
      return null;
    }
    const { store, t } = this.host;
    const look = KIND_LOOKS[detail.kind];
    return {
      kind: 'layer',
      content: activityTip(detail, label, scene.zeroS, store.tables, this.cluster, t),
      colour: cssColour(this.#dark ? look.dark : look.light)
    };
  }

  #sight(): Sight {
    const { hidden } = this.#legend;
    return { hidden: hidden.some(flag => flag === 1) ? hidden : null, focus: -1 };
  }
}
