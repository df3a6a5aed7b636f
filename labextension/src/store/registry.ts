/** The stores of a page, one for each recorder of each kernel, however many views there are. */
import { TaskStore } from './task-store';

export class StoreRegistry {
  readonly #stores = new Map<string, Map<string, TaskStore>>();

  constructor(private readonly make: () => TaskStore = () => new TaskStore()) {}

  /** The store of a recorder; made empty if there is none, so that a view may come before the feed. */
  open(kernelId: string, recorderId: string): TaskStore {
    let ofKernel = this.#stores.get(kernelId);
    if (ofKernel === undefined) {
      ofKernel = new Map();
      this.#stores.set(kernelId, ofKernel);
    }
    let store = ofKernel.get(recorderId);
    if (store === undefined) {
      store = this.make();
      ofKernel.set(recorderId, store);
    }
    return store;
  }

  /** All stores of a kernel, the newest last. */
  ofKernel(kernelId: string): TaskStore[] {
    return [...(this.#stores.get(kernelId)?.values() ?? [])];
  }

  /** Forget a kernel that is gone; views that hold a store keep it. */
  close(kernelId: string): void {
    this.ofKernel(kernelId).forEach(store => {
      store.freeze();
    });
    this.#stores.delete(kernelId);
  }
}
