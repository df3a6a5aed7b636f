/** What a page is told of a recorder: messages of frames to what they mean, each after the one before. */
import { Field, WireError } from './check';
import type { Numbers, Row, Section, Sections } from './codec';
import { BatchReader, readHeader, rowsOf } from './codec';
import { Budget, bytesOf, readFrame } from './frames';
import type { Batch, ClusterPart, HeldColumns, KeyColumns, PrefixProgress, TaskColumns } from './schema';
import { PROTOCOL, TEXT_KEY, UNKNOWN_CODE } from './schema';
import { CHOICES } from './tables';

export type WireBuffer = ArrayBuffer | ArrayBufferView;

const MAX_NAMES = 65_536;

/** One stream of messages; a header within begins another one. */
export class PageStream {
  #reader: BatchReader | null = null;
  #stream = -1;
  #next = 0;

  /**
   * What a message says; null where frames before it are missing, so that nobody knows what it means.
   *
   * @throws WireError naming what is wrong; nothing of the message is decoded then.
   */
  take(data: unknown, buffers: readonly WireBuffer[]): readonly Batch[] | null {
    const message = new Field(data, 'message');
    const protocol = message.at('protocol');
    if (protocol.value !== PROTOCOL) {
      protocol.fail(`${PROTOCOL}; reload the page after an upgrade of taskscope`);
    }
    message.at('kind').oneOf(['batch']);
    const [buffer] = buffers;
    if (buffer === undefined || buffers.length > 1) {
      throw new WireError('buffers', 'one buffer', buffers.length);
    }
    return this.read(bytesOf(buffer));
  }

  /** The same of all frames that stand in these bytes, which are not packed. */
  read(bytes: Uint8Array): readonly Batch[] | null {
    const budget = new Budget(bytes.length);
    const batches: Batch[] = [];
    for (let at = 0; at < bytes.length; ) {
      const frame = readFrame(bytes, at);
      if (frame === null || frame.isPacked) {
        throw new WireError('buffers', 'whole frames that are not packed', bytes.length);
      }
      at = frame.end;
      if (frame.kind === 'header') {
        this.#reader = new BatchReader(readHeader(frame.content));
        [this.#stream, this.#next] = [frame.stream, 0];
      } else if (this.#reader === null || frame.stream !== this.#stream || frame.number !== this.#next) {
        return null;
      } else {
        batches.push(meant(this.#reader, this.#reader.read(frame.content, budget), frame.number - 1));
      }
      this.#next += 1;
    }
    return batches;
  }
}

function meant(reader: BatchReader, sections: Sections, seq: number): Batch {
  const { said } = reader.header;
  return batchOf(sections, said.at('recorder').text(), said.at('epoch').text(), seq);
}

/** What the tables of a page say to the store. */
export function batchOf({ tasks, ...sections }: Sections, recorder: string, epoch: string, seq: number): Batch {
  const [state] = rowsOf(sections.state);
  if (state === undefined) {
    throw new WireError('batch', 'one that says how things stand', undefined);
  }
  const metrics = new Map<number, string>();
  const runs = rowsOf(sections.runs).map(({ metric, status, ...run }) => {
    if (metric !== null) {
      metrics.set(run.run, metric);
    }
    return { ...run, status: choice(CHOICES.runs.status, status) };
  });
  return {
    recorder,
    epoch,
    seq,
    nowS: state.nowS,
    active: state.active === 1,
    final: state.final === 1,
    first: tasks.n === 0 ? state.nDropped : tasks.first,
    count: tasks.n,
    cursor: state.nTasks,
    dropped: state.nDropped,
    tasks: tasksOf(tasks),
    errors: rowsOf(sections.errors).map(({ text }) => text),
    groups: numbered(sections.groups),
    lanes: numbered(sections.lanes),
    runs,
    progress: rowsOf(sections.progress).map(progressOf),
    estimates: rowsOf(sections.estimates),
    stops: rowsOf(sections.stops).map(({ run, way }) => ({ run, way: choice(CHOICES.stops.way, way) })),
    running: rowsOf(sections.running).map(({ keyText, ...task }) => ({ ...task, key: keyText })),
    remarks: rowsOf(sections.messages).map(({ level, event, ...remark }) => ({
      ...remark,
      level: choice(CHOICES.messages.level, level),
      event: event === null ? null : choice(CHOICES.messages.event, event)
    })),
    resources: { first: sections.resources.first, nCores: state.nCores, limitBytes: state.limitBytes, ...sections.resources.columns },
    held: heldOf(sections.cache, metrics, state.cacheUnknown === 1),
    cluster: clusterOf(sections, state.nActivitiesDropped),
    metered: sections.metered.columns
  };
}

function choice<T>(choices: readonly T[], place: number): T {
  return choices[place] as T;
}

/** Rows with their numbers. */
function numbered<T extends 'groups' | 'lanes' | 'sources'>(section: Section<T>): (Row<T> & { id: number })[] {
  const { first, n } = section;
  if (first + n > MAX_NAMES) {
    throw new WireError('batch', `at most ${MAX_NAMES} names`, first + n);
  }
  return rowsOf(section).map((row, i) => ({ ...row, id: first + i }));
}

function progressOf({ scheduledS, asked, isAll, queued, waiting, noWorker, ...row }: Row<'progress'>): PrefixProgress {
  return {
    ...row,
    scheduled: scheduledS === null ? null : {
      timeS: scheduledS, asked: asked ?? 0, isAll: isAll === 1, queued: queued ?? 0, waiting: waiting ?? 0, noWorker: noWorker ?? 0
    }
  };
}

function tasksOf({ n, columns }: Section<'tasks'>): TaskColumns {
  const { durationS, error, dims, keyText, i0, i1, i2, i3, i4, i5, i6, i7, ...told } = columns;
  const { status, stopS } = told;
  const startS = new Float64Array(n);
  const errors: number[] = [];
  for (let i = 0; i < n; i += 1) {
    startS[i] = (stopS[i] as number) - (durationS[i] as number);
    if (status[i] !== 0) {
      errors.push(coded(error[i] as number));
    }
  }
  const keys = keysOf(n, dims, keyText, [i0, i1, i2, i3, i4, i5, i6, i7]);
  return { ...told, startS, keys, error: Uint16Array.from(errors) };
}

/** A number from 0 to 65,534, or UNKNOWN_CODE. */
function coded(value: number): number {
  return Number.isNaN(value) ? UNKNOWN_CODE : Math.min(Math.round(value), UNKNOWN_CODE - 1);
}

function keysOf(count: number, dims: Numbers, text: readonly (string | null)[], columns: readonly Numbers[]): KeyColumns {
  const texts: Uint8Array[] = [];
  const encoder = new TextEncoder();
  let nInts = 0;
  for (let i = 0; i < count; i += 1) {
    const n = dims[i] as number;
    if (n === TEXT_KEY) {
      texts.push(encoder.encode(text[i] ?? ''));
    } else if (n >= 0 && n <= columns.length) {
      nInts += n;
    } else {
      throw new WireError(`tasks.dims[${i}]`, `0 to ${columns.length}, or ${TEXT_KEY}`, n);
    }
  }
  const ints = new Int32Array(nInts);
  for (let i = 0, at = 0; i < count; i += 1) {
    for (let k = 0, n = dims[i] === TEXT_KEY ? 0 : (dims[i] as number); k < n; k += 1) {
      ints[at] = columns[k]?.[i] as number;
      at += 1;
    }
  }
  const bytes = new Uint8Array(texts.reduce((sum, encoded) => sum + encoded.length, 0));
  let at = 0;
  for (const encoded of texts) {
    bytes.set(encoded, at);
    at += encoded.length;
  }
  return { dims: Uint8Array.from(dims), ints, lengths: Uint16Array.from(texts, encoded => encoded.length), text: bytes };
}

function heldOf({ first, columns }: Section<'cache'>, metrics: ReadonlyMap<number, string>, isUnknown: boolean): HeldColumns {
  const { value, nUnvalued } = columns;
  const isValued = value.some(known => !Number.isNaN(known));
  return {
    ...columns, first, metrics, isUnknown,
    value: isValued ? value.map(known => (Number.isNaN(known) ? 0 : known)) : null,
    nUnvalued: isValued ? nUnvalued : null
  };
}

function clusterOf({ activities, completed, workers, worker_samples: samples, sources, metrics }: Omit<Sections, 'tasks'>, dropped: number): ClusterPart | null {
  if (activities.n + completed.n + workers.n + samples.n + sources.n + metrics.n === 0) {
    return null;
  }
  const { activity: kind, source, ...columns } = activities.columns;
  return {
    activities: {
      ...columns, kind, dropped,
      first: activities.n === 0 ? dropped : activities.first,
      source: Uint16Array.from(source, place => (Number.isNaN(place) ? 0 : place)),
      completedRow: completed.columns.row,
      completedBytes: completed.columns.nbytes,
      sources: numbered(sources).map(({ id, text }) => ({ id, address: text }))
    },
    workers: {
      ...samples.columns,
      first: samples.first,
      nExecuting: Uint16Array.from(samples.columns.nExecuting, coded),
      workers: rowsOf(workers).map(({ worker, ...known }) => ({ id: worker, ...known }))
    },
    metrics: rowsOf(metrics)
  };
}
