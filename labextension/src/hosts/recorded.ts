/** A finished recording: the feed's messages, all at once, with their buffers. */
import { type AskLinks, ClusterStore, TaskStore } from '../store';
import { type WireBuffer, WireError, decodeBatch, decodeCluster } from '../wire';

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
  entries.forEach((entry: unknown, i) => {
    const path = `data[${i}]`;
    if (typeof entry !== 'object' || entry === null || !('message' in entry) || !('buffers' in entry)) {
      throw new WireError(path, 'an object with message and buffers', entry);
    }
    const appended = store.append(decodeBatch(entry.message, checkBuffers(entry.buffers, `${path}.buffers`), decodeCluster));
    if (appended.kind === 'gap') {
      throw new WireError(path, 'the next message', appended.reason);
    }
  });
  return store;
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
