/** A recording that was embedded in a page: the frames of a stream in one packed piece. */
import type { ClusterCharts } from '../../charts/tracks';
import type { ClusterStore, TaskStore } from '../../store';
import type { KnownPath } from '../../wire';
import { Field, PageStream, WireError, bytesOfBase64, inflate, pathOf } from '../../wire';
import { isRecord } from '../../wire/check';
import { recordedStore } from '../recorded';

/** Shows and keeps what only clusters have. */
export interface ClusterReader {
  readonly charts: ClusterCharts;
  newStore(): ClusterStore;
}

/**
 * Make a store of the text of a data element.
 *
 * Rejects with a WireError, SyntaxError or TypeError where the text is damaged; then there is no store at all.
 */
export async function storeFrom(text: string, cluster?: ClusterReader): Promise<{ readonly store: TaskStore; readonly path: KnownPath | null }> {
  const data: unknown = JSON.parse(text);
  if (!isRecord(data)) {
    throw new WireError('data', 'an object', data);
  }
  const stream = new PageStream();
  const batches = stream.read(await unpack(data.data, data.bytes, 'data')) ?? new Field(data.data, 'data.data').fail('all frames of a stream');
  const store = recordedStore(batches, stream, cluster?.newStore() ?? null);
  const path = pathOf(batches);
  return { store, path: path !== null ? { path } : typeof data.no_path === 'string' ? { reason: data.no_path } : null };
}

/** Rejects with a WireError or TypeError where it is damaged, or does not make `nBytes`. */
export async function unpack(base64: unknown, nBytes: unknown, path: string): Promise<Uint8Array> {
  const size = new Field(nBytes, `${path}.bytes`).count();
  return inflate(bytesOfBase64(base64, `${path}.data`), size);
}
