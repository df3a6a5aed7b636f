/** A finished recording: the feed's messages, all at once, with their buffers. */
import { type AskLinks, ClusterStore, TaskStore } from '../store';
import { type Batch, PageStream, type WireBuffer, WireError } from '../wire';

/**
 * Make a store of a list of messages, which asks for dependencies by `ask`.
 *
 * @throws WireError where the list is damaged; then there is no store at all.
 */
export function storeOf(entries: unknown, ask: AskLinks): TaskStore {
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new WireError('data', 'a list of messages', entries);
  }
  const store = new TaskStore({ cluster: new ClusterStore(), ask });
  const stream = new PageStream();
  entries.forEach((entry: unknown, i) => {
    const path = `data[${i}]`;
    if (typeof entry !== 'object' || entry === null || !('message' in entry) || !('buffers' in entry)) {
      throw new WireError(path, 'an object with message and buffers', entry);
    }
    appendAll(store, stream.take(entry.message, checkBuffers(entry.buffers, `${path}.buffers`)), path);
  });
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

function checkBuffers(buffers: unknown, path: string): readonly WireBuffer[] {
  if (!Array.isArray(buffers) || !buffers.every(isBuffer)) {
    throw new WireError(path, 'a list of buffers', buffers);
  }
  return buffers;
}

function isBuffer(value: unknown): value is WireBuffer {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}
