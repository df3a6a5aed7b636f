/** A recording that was embedded in a page: the feed's messages, with their buffers in base64. */
import { TaskStore } from '../../store';
import { WireError, decodeBatch } from '../../wire';

/**
 * Make a store of the text of a data element.
 *
 * @throws WireError or SyntaxError where the text is damaged; then there is no store at all.
 */
export function storeFrom(text: string): TaskStore {
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new WireError('data', 'a list of messages', entries);
  }
  const store = new TaskStore();
  entries.forEach((entry: unknown, i) => {
    const { message, buffers } = checkEntry(entry, `data[${i}]`);
    const appended = store.append(decodeBatch(message, buffers));
    if (appended.kind === 'gap') {
      throw new WireError(`data[${i}]`, 'the next message', appended.reason);
    }
  });
  return store;
}

function checkEntry(entry: unknown, path: string): { message: unknown; buffers: Uint8Array[] } {
  if (typeof entry !== 'object' || entry === null || !('message' in entry) || !('buffers' in entry)) {
    throw new WireError(path, 'an object with message and buffers', entry);
  }
  const { message, buffers } = entry;
  if (!Array.isArray(buffers)) {
    throw new WireError(`${path}.buffers`, 'a list', buffers);
  }
  return { message, buffers: buffers.map((buffer: unknown, i) => bytesOf(buffer, `${path}.buffers[${i}]`)) };
}

function bytesOf(base64: unknown, path: string): Uint8Array {
  if (typeof base64 !== 'string') {
    throw new WireError(path, 'base64', base64);
  }
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}
