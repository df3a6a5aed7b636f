/** A finished recording: the feed's messages, all at once, with their buffers. */
import { type AskLinks, ClusterStore, TaskStore } from '../store';
import { type Batch, Field, PageStream, type WireBuffer, WireError } from '../wire';

/**
 * Make a store of a list of messages, which asks for dependencies by `ask`.
 *
 * @throws WireError where the list is damaged; then there is no store at all.
 */
export function storeOf(entries: unknown, ask: AskLinks): TaskStore {
  const store = new TaskStore({ cluster: new ClusterStore(), ask });
  const stream = new PageStream();
  for (const entry of new Field(entries, 'data').list()) {
    const buffers = entry.at('buffers').list().map(({ value }) => value as WireBuffer);
    appendAll(store, stream.take(entry.at('message').value, buffers), entry.path);
  }
  return store;
}

/** Take over what somebody who reads a stream from its beginning is told; @throws WireError where messages are missing. */
export function appendAll(store: TaskStore, batches: readonly Batch[] | null, path: string): void {
  if (batches === null) {
    throw new WireError(path, 'the next message', 'a later one');
  }
  for (const batch of batches) {
    const appended = store.append(batch);
    if (appended.kind === 'gap') {
      throw new WireError(path, 'the next message', appended.reason);
    }
  }
}
