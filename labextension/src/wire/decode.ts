/** The one decoder: `unknown` and buffers in, a whole valid batch out, or a WireError. */
import { Field, WireError } from './check';
import type { ClusterPart } from './cluster-schema';
import type { WireBuffer } from './columns';
import { checkBuffers, decodeColumns } from './columns';
import type { Batch, Estimate, Group, Lane, PrefixProgress, Remark, Run, RunningTask, Scheduled } from './schema';
import { BUFFERS, HELD_BUFFERS, PROTOCOL, RESOURCE_BUFFERS, RUN_STATUSES } from './schema';
import { decodeRunsOf, decodeSeries } from './series';

/** More rows than any message has; a hostile count must not allocate. */
const MAX_ROWS = 1_000_000;
const MAX_ID = 65535;
const MAX_LANE = 8191;
const MAX_RUN = 2 ** 31 - 1;

/** Decodes what only clusters have, where a message has it. */
export type DecodeCluster = (section: Field, buffers: readonly WireBuffer[]) => ClusterPart;

/**
 * Decode one message of the feed.
 *
 * @param decodeCluster left out: what only clusters have is not looked at
 * @throws WireError naming what is wrong; nothing is decoded in part.
 */
export function decodeBatch(data: unknown, buffers: readonly WireBuffer[], decodeCluster?: DecodeCluster): Batch {
  const message = new Field(data, 'message');
  const protocol = message.at('protocol');
  if (protocol.value !== PROTOCOL) {
    protocol.fail(`${PROTOCOL}; reload the page after an upgrade of taskscope`);
  }
  message.at('kind').oneOf(['batch']);
  const count = message.at('count').count(MAX_ROWS);
  const nBuffers = BUFFERS.length + RESOURCE_BUFFERS.length + HELD_BUFFERS.length;
  const cluster = message.at('cluster');
  const hasCluster = cluster.value !== undefined;
  if (hasCluster ? buffers.length < nBuffers : buffers.length !== nBuffers) {
    throw new WireError('buffers', `${nBuffers} buffers`, buffers.length);
  }
  const views = checkBuffers(buffers.slice(0, BUFFERS.length), count);
  const series = decodeSeries(message, buffers.slice(BUFFERS.length, nBuffers));
  const errors = message.at('errors').list().map(field => field.text());
  const runOfRow = decodeRunsOf(message.at('task_runs'), count);
  return {
    recorder: message.at('recorder').text(),
    epoch: message.at('epoch').text(),
    seq: message.at('seq').count(),
    nowS: message.at('now_s').orNull(f => f.number()),
    active: message.at('active').flag(),
    final: message.at('final').flag(),
    first: message.at('first').count(),
    count,
    cursor: message.at('cursor').count(),
    dropped: message.at('dropped').count(),
    tasks: decodeColumns(views, runOfRow, message.at('base_s').number(), errors.length),
    errors,
    groups: message.at('groups').list().map(decodeGroup),
    lanes: message.at('lanes').list().map(decodeLane),
    runs: message.at('runs').list().map(decodeRun),
    progress: message.at('progress').list().map(decodeProgress),
    estimates: message.at('estimates').list().map(decodeEstimate),
    running: message.at('running').list().map(decodeRunning),
    remarks: message.at('messages').list().map(decodeRemark),
    ...series,
    cluster: hasCluster ? (decodeCluster?.(cluster, buffers.slice(nBuffers)) ?? null) : null
  };
}

function decodeGroup(field: Field): Group {
  const [id, name, prefix] = field.tuple(3) as [Field, Field, Field];
  return { id: id.count(MAX_ID), name: name.text(), prefix: prefix.text() };
}

function decodeLane(field: Field): Lane {
  const [id, worker, thread, label] = field.tuple(4) as [Field, Field, Field, Field];
  return { id: id.count(MAX_LANE), worker: worker.text(), thread: thread.number(), label: label.text() };
}

function decodeRun(field: Field): Run {
  const text = (f: Field): string => f.text();
  const time = (f: Field): number => f.number();
  return {
    run: field.at('run').count(MAX_RUN),
    label: field.at('label').orNull(text),
    cell: field.at('cell').orNull(text),
    executionCount: field.at('execution_count').orNull(f => f.count()),
    sourceCrc: field.at('source_crc').orNull(f => f.count()),
    scheduler: field.at('scheduler').orNull(text),
    nWorkers: field.at('n_workers').orNull(f => f.count()),
    nTasks: field.at('n_tasks').count(),
    startS: field.at('start_s').orNull(time),
    stopS: field.at('stop_s').orNull(time),
    status: field.at('status').oneOf(RUN_STATUSES),
    error: field.at('error').orNull(text)
  };
}

function decodeProgress(field: Field): PrefixProgress {
  const [run, prefix, total, finished, erred, running, interrupted, spared, again, durationS, scheduled] = field.tuple(11) as [
    Field, Field, Field, Field, Field, Field, Field, Field, Field, Field, Field
  ];
  return {
    run: run.count(MAX_RUN),
    prefix: prefix.text(),
    total: total.count(),
    finished: finished.count(),
    erred: erred.count(),
    running: running.count(),
    interrupted: interrupted.count(),
    spared: spared.count(),
    again: again.count(),
    durationS: durationS.orNull(f => f.number()),
    scheduled: scheduled.orNull(decodeScheduled)
  };
}

function decodeScheduled(field: Field): Scheduled {
  const [timeS, asked, isAll, queued, waiting, noWorker] = field.tuple(6) as [Field, Field, Field, Field, Field, Field];
  return {
    timeS: timeS.number(),
    asked: asked.count(),
    isAll: isAll.flag(),
    queued: queued.count(),
    waiting: waiting.count(),
    noWorker: noWorker.count()
  };
}

function decodeEstimate(field: Field): Estimate {
  const [run, stopS, earliestS, latestS, nUnseen] = field.tuple(5) as [Field, Field, Field, Field, Field];
  return {
    run: run.count(MAX_RUN),
    stopS: stopS.number(),
    earliestS: earliestS.number(),
    latestS: latestS.number(),
    nUnseen: nUnseen.count()
  };
}

function decodeRunning(field: Field): RunningTask {
  const [run, lane, group, key, startS] = field.tuple(5) as [Field, Field, Field, Field, Field];
  return {
    run: run.count(MAX_RUN),
    lane: lane.orNull(f => f.count(MAX_LANE)),
    group: group.count(MAX_ID),
    key: key.text(),
    startS: startS.orNull(f => f.number())
  };
}

function decodeRemark(field: Field): Remark {
  const [timeS, level, text] = field.tuple(3) as [Field, Field, Field];
  return { timeS: timeS.orNull(f => f.number()), level: level.text(), text: text.text() };
}
