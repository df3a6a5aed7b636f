/** A recording that was embedded in a page: the messages of the feed in one packed piece. */
import type { ClusterCharts } from '../../charts/tracks';
import type { AskLinks, ClusterStore } from '../../store';
import { TaskStore } from '../../store';
import type { KnownPath } from '../../wire';
import { Field, PageStream, WireError, decodePath } from '../../wire';
import { appendAll } from '../recorded';
import { type LinksOfRow, readLinks } from './links';
import { unpack } from './packed';

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
  const { links, path } = data;
  const store: TaskStore = new TaskStore({
    ...(cluster === undefined ? {} : { cluster: cluster.newStore() }),
    ...(isRecord(links) ? { ask: askPage(links, () => store) } : {})
  });
  appendAll(store, new PageStream().read(await unpack(data.data, data.bytes, 'data')), 'data.data');
  return { store, path: isRecord(path) ? await readPath(path) : null };
}

/** The critical path as `taskscope/report/embed.py` packs it, or why there is none; where it is damaged, its console says so. */
async function readPath({ reason, data, bytes }: Record<string, unknown>): Promise<KnownPath | null> {
  if (typeof reason === 'string') {
    return { reason };
  }
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(await unpack(data, bytes, 'data.path')));
    return decodePath(new Field(json, 'data.path'));
  } catch (error) {
    reportError(error);
    return null;
  }
}

/** Answers from what the page has of dependencies; where that is damaged, its console says so, and nothing is known. */
function askPage(packed: Record<string, unknown>, storeOf: () => TaskStore): AskLinks {
  let reading: Promise<LinksOfRow> | null = null;
  return row => {
    const store = storeOf();
    reading ??= readLinks(packed, store.cursor);
    void reading
      .catch((error: unknown): LinksOfRow => {
        reportError(error);
        return () => null;
      })
      .then(of => {
        store.answerLinks(store.epoch ?? '', { row, links: of(row) });
      });
    return true;
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
