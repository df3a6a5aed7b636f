/** The stores of one kernel's recorders, and which of them are in use. */
import { ClusterStore } from '../../store/cluster-store';
import type { AskLinks } from '../../store/links';
import { TaskStore } from '../../store/task-store';
import type { FeedSettings } from './feed-settings';
import { type Held, hold } from './hold';

/** A store in use by one view; `release` it when the view goes. */
export interface StoreHold {
  readonly store: TaskStore;
  release(): void;
}

export class RecorderStores {
  /** `askOf(recorder)` asks the kernel what a task of that recorder needs. */
  constructor(
    private _settings: FeedSettings,
    private readonly _askOf: (recorder: string) => AskLinks
  ) {}

  /** The recorder that the kernel has now; empty while none is known. Others stay for as long as views use them. */
  get current(): string {
    return this._current;
  }

  set current(recorder: string) {
    if (recorder !== this._current) {
      // A kernel has one recorder for as long as it lives.
      this._entries.get(this._current)?.store.end();
    }
    this._current = recorder;
    this._forgetUnused();
  }

  /** The store of a recorder that is known here. */
  get(recorder: string): TaskStore | undefined {
    return this._entries.get(recorder)?.store;
  }

  /** The same, made if it is not. */
  open(recorder: string): TaskStore {
    return this._entry(recorder).store;
  }

  hold(recorder: string): StoreHold {
    const entry = this._entry(recorder);
    const release = hold(entry, () => {
      this._forgetUnused();
    });
    return { store: entry.store, release };
  }

  configure(settings: FeedSettings): void {
    this._settings = settings;
    for (const { store } of this._entries.values()) {
      store.configure(settings);
    }
  }

  clear(): void {
    this._entries.clear();
  }

  private _entry(recorder: string): Entry {
    let entry = this._entries.get(recorder);
    if (entry === undefined) {
      entry = { store: new TaskStore({ ask: this._askOf(recorder), cluster: new ClusterStore() }), holds: 0 };
      entry.store.configure(this._settings);
      this._entries.set(recorder, entry);
    }
    return entry;
  }

  private _forgetUnused(): void {
    for (const [recorder, { holds }] of this._entries) {
      if (holds === 0 && recorder !== this._current) {
        this._entries.delete(recorder);
      }
    }
  }

  private readonly _entries = new Map<string, Entry>();
  private _current = '';
}

interface Entry extends Held {
  readonly store: TaskStore;
}
