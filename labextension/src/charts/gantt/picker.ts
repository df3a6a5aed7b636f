/** What is under the pointer and what is selected: the latter is shared with the other views of the recorder. */
import type { Selected, Sight, TaskRef, TaskStore } from '../../store';
import type { Found, FoundOpen, FoundTask, Place } from './find-task';
import { findTask } from './find-task';
import type { GanttLayout } from './layout';
import type { OpenBar, Scene } from './model';
import type { BarPlace } from './picture';

export class Picker {
  pointer: Place | null = null;

  /** @param changed is called when the selection did, by whomever */
  constructor(
    private readonly store: TaskStore,
    signal: AbortSignal,
    changed: (selected: Selected | null, mine: boolean) => void
  ) {
    store.selection.subscribe((selected, teller) => { changed(selected, teller === this); }, signal);
  }

  find(scene: Scene, layout: GanttLayout, place: Place, sight: Sight): Found | null {
    return findTask(this.store, scene, layout, place, sight);
  }

  select(found: Found | null): void {
    if (found?.kind !== 'worker') {
      this.store.selection.select(found === null ? null : selectedBy(found), this);
    }
  }

  selectRef(ref: TaskRef): void {
    const key = this.ended(ref)?.detail.key;
    if (key !== undefined) {
      this.store.selection.select({ key, ref }, this);
    }
  }

  /** Select a task by its key, as the kernel asked; a `Locator` looks for its place. */
  selectKey(key: string | null): void {
    this.store.selection.select(key === null ? null : { key, ref: null }, this);
  }

  /** The selected task: ended, in flight, or nowhere. */
  selected(scene: Scene): FoundTask | FoundOpen | null {
    const { current } = this.store.selection;
    if (current === null) {
      return null;
    }
    return (current.ref === null ? null : this.ended(current.ref)) ?? openOf(scene, current.key);
  }

  ended(ref: TaskRef): FoundTask | null {
    const i = this.store.lane(ref.lane)?.find(ref.startS, ref.row) ?? null;
    const detail = i === null ? null : this.store.detail(ref.lane, i);
    const label = this.store.tables.lanes[ref.lane]?.label ?? '?';
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
