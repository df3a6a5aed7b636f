/** A recording that was embedded in a page: the messages of the feed in one packed piece, its dependencies and its critical path. */
import type { ClusterCharts } from '../../charts/tracks';
import type { AskLinks, ClusterStore } from '../../store';
import { TaskStore } from '../../store';
import type { KnownPath, LinkRow, LinkRows } from '../../wire';
import { Field, PageStream, WireError, bytesOfBase64, decodePath, MAX_LINKS, inflate } from '../../wire';
import { isRecord } from '../../wire/check';
import { Bytes } from '../../wire/codec';
import { appendAll } from '../recorded';

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

const UNKNOWN = 0xffffffff;

/** Tells what a row needs and what needs it; null: that is not known. */
export type LinksOfRow = (row: number) => LinkRows | null;

/** Rejects with a WireError or TypeError where they are damaged. */
export async function readLinks(packed: Record<string, unknown>, nRows: number): Promise<LinksOfRow> {
  const bytes = new Bytes(await unpack(packed.data, packed.bytes, 'data.links'));
  const u32 = (n: number): Uint32Array => new Uint32Array(bytes.ordered(4, n));
  const [counts, otherNeeds, otherUsers] = [u32(nRows), u32(nRows), u32(nRows)];
  const target = u32(counts.reduce((sum, n) => sum + n, 0));
  const source = new Uint32Array(target.length);
  let edge = 0;
  counts.forEach((n, row) => {
    for (const end = edge + n; edge < end; edge += 1) {
      const before = target[edge] as number;
      const needed = row - ((before >>> 1) ^ -(before & 1));
      if (needed < 0 || needed >= nRows) {
        throw new WireError('data.links', `rows from 0 to ${nRows - 1}`, needed);
      }
      source[edge] = row;
      target[edge] = needed;
    }
  });
  if (bytes.left > 0) {
    throw new WireError('data.links', 'dependencies of the rows and nothing else', bytes.left);
  }
  return row => {
    const needs = otherNeeds[row] ?? UNKNOWN;
    if (needs === UNKNOWN) {
      return null;
    }
    const dependencies = ends(source, target, row);
    const dependents = ends(target, source, row);
    return {
      dependencies: dependencies.slice(0, MAX_LINKS).map(toLink),
      nDependencies: dependencies.length + needs,
      dependents: dependents.slice(0, MAX_LINKS).map(toLink),
      nDependents: dependents.length + (otherUsers[row] ?? 0)
    };
  };
}

function ends(from: Uint32Array, to: Uint32Array, row: number): number[] {
  const found: number[] = [];
  for (let i = from.indexOf(row); i !== -1; i = from.indexOf(row, i + 1)) {
    found.push(to[i] as number);
  }
  return found;
}

/** A row of the page has its key there. */
function toLink(row: number): LinkRow {
  return { row, key: '' };
}

/** Rejects with a WireError or TypeError where it is damaged, or does not make `nBytes`. */
export async function unpack(base64: unknown, nBytes: unknown, path: string): Promise<Uint8Array> {
  const size = new Field(nBytes, `${path}.bytes`).count();
  return inflate(bytesOfBase64(base64, `${path}.data`), size);
}
