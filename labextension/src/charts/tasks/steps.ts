/** What is selected, which the views of a recorder share, and where a task is that is known by its key only. */
import { Seen } from '../../lib/seen';
import { clamp } from '../../lib/span';
import type { Selected, TaskRef, TaskStore } from '../../store';
import type { TrackContext } from '../timeline/track';
import { inSlices } from '../ui/frame-loop';
import type { Found, FoundOpen, FoundTask } from './find-task';
import { hitTask } from './find-task';
import type { Emphasis } from './legend';
import type { Folding, Row } from './rows';
import { rowOfLane } from './rows';
import type { BarPlace, LaneLayout, OpenBar, Scene } from './scene';
import { isShown } from './scene';
import { TaskSearch, exactQuery } from './search';

export class Picker {
  constructor(private readonly store: TaskStore) {}

  select(found: Found | null): void {
    if (found?.kind !== 'worker') {
      this.store.selection.select(found === null ? null : selectedBy(found), this);
    }
  }

  /** The selected task: ended, in flight, or nowhere. */
  selected(scene: Scene): FoundTask | FoundOpen | null {
    const { current } = this.store.selection;
    if (current === null) {
      return null;
    }
    return (current.ref === null ? null : this.ended(current.ref, scene)) ?? openOf(scene, current.key);
  }

  /** @param scene has the names of lanes that are shown */
  ended(ref: TaskRef, scene: Pick<Scene, 'lanes'> | null): FoundTask | null {
    const i = this.store.lane(ref.lane)?.find(ref.startS, ref.row) ?? null;
    const detail = i === null ? null : this.store.detail(ref.lane, i);
    const label = scene?.lanes.find(({ id }) => id === ref.lane)?.label ?? this.store.tables.lanes[ref.lane]?.label ?? '?';
    return detail === null ? null : { kind: 'ended', ref, detail, label, sharing: 1 };
  }
}

export function placeOfBar(found: FoundTask | FoundOpen, nowS: number): BarPlace {
  return found.kind === 'ended'
    ? { lane: found.ref.lane, startS: found.detail.startS, stopS: found.detail.stopS }
    : { lane: found.lane, startS: found.bar.startS, stopS: nowS };
}

function selectedBy(found: FoundTask | FoundOpen): Selected {
  return found.kind === 'ended' ? { key: found.detail.key, ref: found.ref } : { key: found.bar.task.keyText, ref: null };
}

/** A task in flight of that key. */
export function openOf(scene: Scene, key: string): FoundOpen | null {
  return openWhere(scene, ({ task }) => task.keyText === key)[0] ?? null;
}

/** Tasks in flight, by their starts. */
export function openWhere({ open, lanes }: Scene, isWanted: (bar: OpenBar) => boolean): FoundOpen[] {
  return [...open]
    .flatMap(([lane, bars]) => bars.filter(isWanted).map((bar): FoundOpen => ({ kind: 'open', bar, lane, label: lanes.find(({ id }) => id === lane)?.label ?? '?' })))
    .sort((a, b) => a.bar.startS - b.bar.startS);
}

const EVERYTHING = { hidden: null, focus: -1 };

export class Locator {
  #search: TaskSearch | null = null;
  readonly #key = new Seen();
  readonly #news = new Seen();
  #stop: () => void = () => undefined;

  constructor(
    private readonly store: TaskStore,
    signal: AbortSignal
  ) {
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
  }

  /** Look for the selected task among what has come since the last time, a slice at a time. */
  refresh(scene: Scene): void {
    const { selection: { current }, version } = this.store;
    if (current?.ref !== null || openOf(scene, current.key) !== null) {
      return;
    }
    const { key } = current;
    if (this.#key.isNew(key) || this.#search === null) {
      this.#search = new TaskSearch(this.store, exactQuery(key), null, EVERYTHING);
    }
    if (!this.#news.isNew(version, this.#search)) {
      return;
    }
    const search = this.#search;
    const isWanted = (): boolean => this.store.selection.current?.key === key && this.store.selection.current.ref === null;
    this.#stop();
    this.#stop = inSlices(
      isOver => !isWanted() || search.step(isOver) || search.count > 0,
      () => {
        const ref = isWanted() ? search.nearest(null, -1) : null;
        if (ref !== null) {
          this.store.selection.select({ key, ref }, this);
        }
      }
    );
  }
}

/** What is seen beside a task that fills the chart, as a part of its duration on each side. */
const MARGIN = 0.1;

export interface StepsOn {
  readonly store: TaskStore;
  readonly emphasis: Emphasis;
  readonly picker: Picker;
  readonly folding: Folding;
  readonly context: TrackContext;
  scene(): Scene | null;
  layout(): LaneLayout | null;
  /** The rows there are now, after some were opened. */
  rows(): readonly Row[];
}

export class Steps {
  constructor(private readonly on: StepsOn) {}

  /** Select a task that has ended, or one in flight, and bring it into sight. */
  goTo(task: TaskRef | FoundOpen): void {
    const found = 'kind' in task ? task : this.on.picker.ended(task, this.on.scene());
    if (found !== null) {
      this.goToFound(found);
    }
  }

  /** The same of one that may be in flight. */
  goToFound(found: FoundTask | FoundOpen): void {
    const { picker, context } = this.on;
    const place = placeOfBar(found, this.on.scene()?.nowS ?? 0);
    picker.select(found);
    context.navigator.reveal(place);
    this.#scrollTo(place.lane);
    context.request();
  }

  stepTask(direction: 1 | -1): void {
    const { store, emphasis } = this.on;
    const scene = this.on.scene();
    const from = this.#start(scene);
    const lane = from === null ? undefined : store.lane(from.lane);
    if (scene === null || from === null || lane === undefined) {
      return;
    }
    const isFirst = store.selection.current?.ref === null || store.selection.current === null;
    const filter = emphasis.filter(store.tables);
    for (let i = from.i + (isFirst ? 0 : direction); i >= 0 && i < lane.n; i += direction) {
      if (isShown(lane, i, scene.runs, filter)) {
        this.goTo({ lane: from.lane, row: lane.row[i] ?? 0, startS: lane.startS[i] ?? 0 });
        return;
      }
    }
  }

  stepLane(direction: 1 | -1): void {
    const { store, emphasis } = this.on;
    const scene = this.on.scene();
    const from = this.#start(scene);
    const start = from === null ? undefined : store.lane(from.lane);
    if (scene === null || from === null || start === undefined) {
      return;
    }
    const timeS = ((start.startS[from.i] ?? 0) + (start.stopS[from.i] ?? 0)) / 2;
    const filter = emphasis.filter(store.tables);
    const ids = scene.lanes.map(lane => lane.id);
    for (let k = ids.indexOf(from.lane) + direction; k >= 0 && k < ids.length; k += direction) {
      const id = ids[k] ?? 0;
      const lane = store.lane(id);
      const i = lane === undefined ? null : hitTask(lane, timeS, Infinity, scene.runs, filter);
      if (lane !== undefined && i !== null) {
        this.goTo({ lane: id, row: lane.row[i] ?? 0, startS: lane.startS[i] ?? 0 });
        return;
      }
    }
  }

  zoomToSelected(): void {
    const { picker, context } = this.on;
    const scene = this.on.scene();
    const found = scene === null ? null : picker.selected(scene);
    if (found?.kind === 'ended') {
      const { startS, stopS } = found.detail;
      const margin = Math.max(stopS - startS, 1e-6) * MARGIN;
      context.navigator.show({ startS: startS - margin, stopS: stopS + margin });
      this.#scrollTo(found.ref.lane);
    }
  }

  /** Where stepping begins: the selected task, else one in the middle of what is in sight. */
  #start(scene: Scene | null): { lane: number; i: number } | null {
    const { store, picker } = this.on;
    const layout = this.on.layout();
    const selected = scene === null ? null : picker.selected(scene);
    if (selected?.kind === 'ended') {
      const { lane, startS, row } = selected.ref;
      return { lane, i: store.lane(lane)?.find(startS, row) ?? 0 };
    }
    const row = layout?.boxes.map(box => box.row).find(shown => shown.kind === 'lane' || shown.collapsed);
    const id = row === undefined ? null : row.kind === 'lane' ? row.id : (row.lanes[0] ?? null);
    const lane = id === null ? undefined : store.lane(id);
    if (scene === null || id === null || lane === undefined) {
      return null;
    }
    const middleS = (scene.span.startS + scene.span.stopS) / 2;
    const i = hitTask(lane, middleS, Infinity, scene.runs, this.on.emphasis.filter(store.tables));
    return i === null ? null : { lane: id, i };
  }

  #scrollTo(lane: number): void {
    const { folding, context } = this.on;
    const worker = this.on.scene()?.rows.find(row => row.kind === 'worker' && row.collapsed && row.lanes.includes(lane));
    if (worker?.kind === 'worker') {
      folding.set(worker.worker, false);
    }
    const layout = this.on.layout();
    if (layout !== null) {
      const topPx = rowOfLane(this.on.rows(), lane) * layout.rowPx;
      context.scrollTo(clamp(layout.scrollPx, topPx + layout.rowPx - layout.plotHeightPx, topPx));
    }
  }
}
