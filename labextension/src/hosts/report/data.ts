/** A recording that was embedded in a page: the feed's messages, with all task rows in one packed piece. */
import type { ClusterCharts } from '../../charts/ui/cluster-charts';
import type { ClusterStore } from '../../store';
import { TaskStore } from '../../store';
import type { DecodeCluster } from '../../wire';
import { HELD_BUFFERS, RESOURCE_BUFFERS, WireError, decodeBatch } from '../../wire';
import { DenseReader, readDense } from './dense';

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
  const reader = new DenseReader(await inflate(bytesOf(data.data, 'data.data'), size(data.bytes, 'data.bytes')));
  const store = new TaskStore(cluster === undefined ? {} : { cluster: cluster.newStore() });
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

function decodeEntry(entry: unknown, path: string, reader: DenseReader, cluster?: ClusterReader): ReturnType<typeof decodeBatch> {
  if (!isRecord(entry) || !isRecord(entry.message)) {
    throw new WireError(path, 'an object with a message', entry);
  }
  const { message } = entry;
  const head = {
    count: size(message.count, `${path}.message.count`),
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
  const count = (name: string): number => size(section(name).count, `${path}.message.${name}.count`);
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
    return size(isRecord(found) ? found[name] : undefined, `${path}.${section}.${name}`);
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

function size(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new WireError(path, 'a whole number, 0 or more', value);
  }
  return value as number;
}

function bytesOf(base64: unknown, path: string): Uint8Array<ArrayBuffer> {
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

async function inflate(packed: Uint8Array<ArrayBuffer>, nBytes: number): Promise<Uint8Array> {
  const stream = new DecompressionStream('deflate');
  const writer = stream.writable.getWriter();
  // What goes wrong here goes wrong in reading, too, where it is awaited.
  writer.write(packed).catch(() => undefined);
  writer.close().catch(() => undefined);
  const unpacked = new Uint8Array(nBytes);
  const reader = stream.readable.getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    unpacked.set(part.value, at);
    at += part.value.length;
  }
  if (at !== nBytes) {
    throw new WireError('data.data', `${nBytes} bytes unpacked`, at);
  }
  return unpacked;
}
