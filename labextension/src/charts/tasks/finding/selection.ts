/** What is selected, which the views of a recorder share, and where a task is that is known by its key only. */
import type { Selected, TaskRef, TaskStore } from '../../../store';
import { inSlices } from '../../ui/frames';
import type { Found, FoundOpen, FoundTask } from './find-task';
import type { BarPlace, OpenBar, Scene } from '../scene';
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
  return found.kind === 'ended' ? { key: found.detail.key, ref: found.ref } : { key: found.bar.task.key, ref: null };
}

/** A task in flight of that key. */
export function openOf({ open, lanes }: Scene, key: string): FoundOpen | null {
  for (const [lane, bars] of open) {
    const bar: OpenBar | undefined = bars.find(({ task }) => task.key === key);
    if (bar !== undefined) {
      return { kind: 'open', bar, lane, label: lanes.find(({ id }) => id === lane)?.label ?? '?' };
    }
  }
  return null;
}

const EVERYTHING = { hidden: null, focus: -1 };

export class Locator {
  #sought: { readonly key: string; readonly search: TaskSearch } | null = null;
  #seenVersion = -1;
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
    if (this.#sought?.key !== key) {
      this.#sought = { key, search: new TaskSearch(this.store, exactQuery(key), null, EVERYTHING) };
    } else if (this.#seenVersion === version) {
      return;
    }
    this.#seenVersion = version;
    const { search } = this.#sought;
    const isWanted = (): boolean => this.store.selection.current?.key === key && this.store.selection.current.ref === null;
    this.#stop();
    this.#stop = inSlices(
      isOver => !isWanted() || search.step(isOver) || search.count > 0,
      () => {
        const ref = isWanted() ? search.next(null, -1) : null;
        if (ref !== null) {
          this.store.selection.select({ key, ref }, this);
        }
      }
    );
  }
}
