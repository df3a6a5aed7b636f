/** A finished recording: the batches of a page, all at once, and what its tasks need. */
import { ClusterStore, TaskStore } from '../store';
import { type Batch, Field, PageStream, type WireBuffer, WireError, linksOf } from '../wire';

/**
 * Make a store of a list of messages.
 *
 * @throws WireError where the list is damaged; then there is no store at all.
 */
export function storeOf(entries: unknown): TaskStore {
  const stream = new PageStream();
  const batches = new Field(entries, 'data').list().flatMap(entry => {
    const buffers = entry.at('buffers').list().map(({ value }) => value as WireBuffer);
    return stream.take(entry.at('message').value, buffers) ?? entry.fail('the next message');
  });
  return recordedStore(batches, stream, new ClusterStore());
}

/**
 * Make a store of all batches of a stream.
 *
 * @throws WireError where some are missing.
 */
export function recordedStore(batches: readonly Batch[], stream: PageStream, cluster: ClusterStore | null): TaskStore {
  const links = linksOf(batches, stream);
  const store = new TaskStore({
    ...(cluster === null ? {} : { cluster }),
    ask: row => links && Promise.resolve(links(row))
  });
  for (const batch of batches) {
    const appended = store.append(batch);
    if (appended.kind === 'gap') {
      throw new WireError('data', 'the next message', appended.reason);
    }
  }
  return store;
}
