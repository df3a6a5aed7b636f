/** A recording that was embedded in a page: the feed's messages, with all task rows in one packed piece. */
import type { ClusterCharts } from '../../charts/tracks';
import type { AskLinks, ClusterStore } from '../../store';
import { TaskStore } from '../../store';
import type { DecodeCluster } from '../../wire';
import { HELD_BUFFERS, RESOURCE_BUFFERS, WireError, decodeBatch } from '../../wire';
import { DenseReader, readDense } from './dense';
import { type LinksOfRow, readLinks } from './links';
import { unpack, wholeNumber } from './packed';

/** From this one on, buffers of held rows are empty where no run has a metric. */
const FIRST_VALUED = HELD_BUFFERS.findIndex(({ name }) => name === 'held_value');

/** Reads and shows what only clusters have. */
export interface ClusterReader {
  readonly charts: ClusterCharts;
  readonly decode: DecodeCluster;
  newStore(): ClusterStore;
  /** The bytes of each buffer of a cluster, given how many rows its sections have. */
  buffers(count: (section: string, name: string) => number): number[];
}

/**
 * Make a store of the text of a data element.
 *
 * Rejects with a WireError, SyntaxError or TypeError where the text is damaged; then there is no store at all.
 */
export async function storeFrom(text: string, cluster?: ClusterReader): Promise<TaskStore> {
  const data: unknown = JSON.parse(text);
  if (!isRecord(data) || !Array.isArray(data.messages) || data.messages.length === 0) {
    throw new WireError('data', 'a list of messages', data);
  }
  const reader = new DenseReader(await unpack(data.data, data.bytes, 'data'));
  const { links } = data;
  const store: TaskStore = new TaskStore({
    ...(cluster === undefined ? {} : { cluster: cluster.newStore() }),
    ...(isRecord(links) ? { ask: askPage(links, () => store) } : {})
  });
  data.messages.forEach((entry: unknown, i) => {
    const path = `data.messages[${i}]`;
    const appended = store.append(decodeEntry(entry, path, reader, cluster));
    if (appended.kind === 'gap') {
      throw new WireError(path, 'the next message', appended.reason);
    }
  });
  if (!reader.isAtEnd) {
    throw new WireError('data.data', 'rows of the messages and nothing else', reader.bytes.length);
  }
  return store;
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

function decodeEntry(entry: unknown, path: string, reader: DenseReader, cluster?: ClusterReader): ReturnType<typeof decodeBatch> {
  if (!isRecord(entry) || !isRecord(entry.message)) {
    throw new WireError(path, 'an object with a message', entry);
  }
  const { message } = entry;
  const head = {
    count: wholeNumber(message.count, `${path}.message.count`),
    baseS: seconds(message.base_s, `${path}.message.base_s`),
    startS: seconds(entry.start_s, `${path}.start_s`),
    tickS: seconds(entry.tick_s, `${path}.tick_s`)
  };
  const tasks = readDense(reader, head);
  const series = readSeries(reader, message, path);
  const more = isRecord(message.cluster) ? readCluster(reader, message.cluster, `${path}.message.cluster`, cluster) : [];
  return decodeBatch(message, [...tasks, ...series, ...more], cluster?.decode);
}

/** The buffers of samples and held rows stand as they are. */
function readSeries(reader: DenseReader, message: Record<string, unknown>, path: string): Uint8Array[] {
  const section = (name: string): Record<string, unknown> => {
    const found = message[name];
    return isRecord(found) ? found : {};
  };
  const count = (name: string): number => wholeNumber(section(name).count, `${path}.message.${name}.count`);
  const { runs } = section('held');
  const valued = Array.isArray(runs) && runs.some((run: unknown) => Array.isArray(run) && run[2] !== null);
  return [
    ...RESOURCE_BUFFERS.map(({ bytes }) => reader.take(bytes * count('resources'))),
    ...HELD_BUFFERS.map(({ bytes }, i) => reader.take(i < FIRST_VALUED || valued ? bytes * count('held') : 0))
  ];
}

/** Those of a cluster, too. */
function readCluster(reader: DenseReader, cluster: Record<string, unknown>, path: string, how?: ClusterReader): Uint8Array[] {
  const count = (section: string, name: string): number => {
    const found = cluster[section];
    return wholeNumber(isRecord(found) ? found[name] : undefined, `${path}.${section}.${name}`);
  };
  return (how?.buffers(count) ?? []).map(bytes => reader.take(bytes));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function seconds(value: unknown, path: string): number {
  if (typeof value !== 'number') {
    throw new WireError(path, 'a number', value);
  }
  return value;
}
