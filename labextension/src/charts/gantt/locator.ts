/** Finds where a selected task is, by its key: one that the kernel chose, or one that was in flight. */
import type { TaskStore } from '../../store';
import { inSlices } from '../ui/slices';
import type { Scene } from './model';
import { openOf } from './picker';
import { exactQuery } from './query';
import { TaskSearch } from './search';

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
