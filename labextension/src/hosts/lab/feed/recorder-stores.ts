/** The stores of one kernel's recorders, and which of them are in use. */
import { ClusterStore } from '../../../store/cluster/cluster-store';
import type { AskLinks } from '../../../store/tasks/links';
import { TaskStore } from '../../../store/task-store';
import type { FeedSettings } from './state';
import type { Use } from './shared';
import { SharedMap } from './shared';

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
      this._stores.get(this._current)?.end();
    }
    this._current = recorder;
    this._stores.sweep();
  }

  /** The store of a recorder that is known here. */
  get(recorder: string): TaskStore | undefined {
    return this._stores.get(recorder);
  }

  /** The same, made if it is not. */
  open(recorder: string): TaskStore {
    return this._stores.open(recorder, () => this._make(recorder));
  }

  /** Use the store of a recorder, made if need be; `release` it when the view goes. */
  use(recorder: string): Use<TaskStore> {
    return this._stores.use(recorder, () => this._make(recorder));
  }

  configure(settings: FeedSettings): void {
    this._settings = settings;
    for (const store of this._stores.values()) {
      store.configure(settings);
    }
  }

  clear(): void {
    this._stores.clear();
  }

  private _make(recorder: string): TaskStore {
    const store = new TaskStore({ ask: this._askOf(recorder), cluster: new ClusterStore() });
    store.configure(this._settings);
    return store;
  }

  private readonly _stores = new SharedMap<string, TaskStore>((_, recorder) => recorder !== this._current);
  private _current = '';
}
