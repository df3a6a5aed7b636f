/** What is under the pointer and what is selected: the latter is shared with the other views of the recorder. */
import type { Selected, Sight, TaskRef, TaskStore } from '../../store';
import { inSlices } from '../ui/slices';
import type { Found, FoundOpen, FoundTask, Place } from './find-task';
import { findTask } from './find-task';
import type { GanttLayout } from './layout';
import type { OpenBar, Scene } from './model';
import type { BarPlace } from './picture';
import { exactQuery } from './query';
import { TaskSearch } from './search';

export class Picker {
  pointer: Place | null = null;
  #stop: () => void = () => undefined;
  #seenVersion = -1;
  #sought: { readonly key: string; readonly search: TaskSearch } | null = null;

  /** @param changed is called when the selection did, by whomever */
  constructor(
    private readonly store: TaskStore,
    signal: AbortSignal,
    changed: (selected: Selected | null, mine: boolean) => void
  ) {
    store.selection.subscribe((selected, teller) => { changed(selected, teller === this); }, signal);
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
  }

  find(scene: Scene, layout: GanttLayout, place: Place, sight: Sight): Found | null {
    return findTask(this.store, scene, layout, place, sight);
  }

  select(found: Found | null): void {
    this.#stop();
    if (found?.kind !== 'worker') {
      this.store.selection.select(found === null ? null : selectedBy(found), this);
    }
  }

  selectRef(ref: TaskRef): void {
    this.#stop();
    const key = this.ended(ref)?.detail.key;
    if (key !== undefined) {
      this.store.selection.select({ key, ref }, this);
    }
  }

  /** Select a task by its key, as the kernel asked; its place is looked for, a slice at a time. */
  selectKey(key: string | null): void {
    this.#stop();
    this.store.selection.select(key === null ? null : { key, ref: null }, this);
    if (key !== null) {
      this.#locate(key);
    }
  }

  /** The selected task: ended, in flight, or nowhere. */
  selected(scene: Scene): FoundTask | FoundOpen | null {
    const { current } = this.store.selection;
    if (current === null) {
      return null;
    }
    return (current.ref === null ? null : this.ended(current.ref)) ?? openOf(scene, current.key);
  }

  /** A selected task that was in flight may have ended since. */
  refresh(scene: Scene): void {
    const { current } = this.store.selection;
    if (current?.ref === null && openOf(scene, current.key) === null && this.#seenVersion !== this.store.version) {
      this.#seenVersion = this.store.version;
      this.#locate(current.key);
    }
  }

  ended(ref: TaskRef): FoundTask | null {
    const i = this.store.lane(ref.lane)?.find(ref.startS, ref.row) ?? null;
    const detail = i === null ? null : this.store.detail(ref.lane, i);
    const label = this.store.tables.lanes[ref.lane]?.label ?? '?';
    return detail === null ? null : { kind: 'ended', ref, detail, label, sharing: 1 };
  }

  /** Look for a key among what has come since the last time. */
  #locate(key: string): void {
    if (this.#sought?.key !== key) {
      const everything = { hidden: null, focus: -1 };
      this.#sought = { key, search: new TaskSearch(this.store, exactQuery(key), null, everything) };
    }
    const { search } = this.#sought;
    this.#stop();
    this.#stop = inSlices(
      isOver => search.step(isOver) || search.count > 0,
      () => {
        const ref = search.next(null, -1);
        if (ref !== null && this.store.selection.current?.key === key) {
          this.store.selection.select({ key, ref }, this);
        }
      }
    );
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

function openOf({ open, lanes }: Scene, key: string): FoundOpen | null {
  for (const [lane, bars] of open) {
    const bar: OpenBar | undefined = bars.find(({ task }) => task.key === key);
    if (bar !== undefined) {
      return { kind: 'open', bar, lane, label: lanes.find(({ id }) => id === lane)?.label ?? '?' };
    }
  }
  return null;
}
