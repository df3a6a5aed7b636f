/** The part of a message that only clusters have; apart, because pages without a cluster do not need it. */
import type { Field } from './check';
import { WireError } from './check';
import type { ActivityColumns, ClusterPart, ClusterWorker, WorkerColumns } from './cluster-schema';
import { ACTIVITIES, ACTIVITY_BUFFERS, COMPLETED_BUFFERS, WORKER_BUFFERS } from './cluster-schema';
import type { WireBuffer } from './columns';
import { copies, decodeRunsOf } from './series';

/** More than any message has; a hostile count must not allocate. */
const MAX_ROWS = 1_000_000;
const MAX_ID = 65535;

/** Decode the `cluster` of a message; `buffers` are those that follow all others. */
export function decodeCluster(section: Field, buffers: readonly WireBuffer[]): ClusterPart {
  const nOfActivities = ACTIVITY_BUFFERS.length + COMPLETED_BUFFERS.length;
  const nBuffers = nOfActivities + WORKER_BUFFERS.length;
  if (buffers.length !== nBuffers) {
    throw new WireError('buffers', `${nBuffers} buffers of a cluster`, buffers.length);
  }
  return {
    activities: decodeActivities(section.at('activities'), buffers.slice(0, nOfActivities)),
    workers: decodeWorkers(section.at('workers'), buffers.slice(nOfActivities))
  };
}

function decodeActivities(section: Field, buffers: readonly WireBuffer[]): ActivityColumns {
  const count = section.at('count').count(MAX_ROWS);
  const columns = copies(ACTIVITY_BUFFERS, buffers, count);
  const nOfRows = ACTIVITY_BUFFERS.length;
  const completed = copies(COMPLETED_BUFFERS, buffers.slice(nOfRows), section.at('n_completed').count(MAX_ROWS));
  const kind = new Uint8Array(columns(1));
  const durationS = new Float32Array(columns(5));
  const startS = new Float64Array(columns(4));
  demandAll(kind, 'activity_kind', `less than ${ACTIVITIES.length}`, code => code < ACTIVITIES.length);
  demandAll(startS, 'activity_start_s', 'a finite number', Number.isFinite);
  demandAll(durationS, 'activity_duration_s', '0 or more', s => s >= 0 && s < Infinity);
  return {
    first: section.at('first').count(),
    dropped: section.at('dropped').count(),
    run: decodeRunsOf(section.at('runs'), count),
    lane: new Uint16Array(columns(0)),
    kind,
    group: new Uint16Array(columns(2)),
    source: new Uint16Array(columns(3)),
    startS,
    durationS,
    nbytes: new Float64Array(columns(6)),
    completedRow: new Uint32Array(completed(0)),
    completedBytes: new Float64Array(completed(1)),
    sources: section.at('sources').list().map(entry => {
      const [id, address] = entry.tuple(2) as [Field, Field];
      return { id: id.count(), address: address.text() };
    })
  };
}

function decodeWorkers(section: Field, buffers: readonly WireBuffer[]): WorkerColumns {
  const columns = copies(WORKER_BUFFERS, buffers, section.at('count').count(MAX_ROWS));
  const timeS = new Float64Array(columns(1));
  demandAll(timeS, 'worker_time_s', 'a finite number', Number.isFinite);
  return {
    first: section.at('first').count(),
    worker: new Uint16Array(columns(0)),
    timeS,
    nThreads: new Uint32Array(columns(2)),
    nExecuting: new Uint16Array(columns(3)),
    cpuPercent: new Float32Array(columns(4)),
    rssBytes: new Float64Array(columns(5)),
    managedBytes: new Float64Array(columns(6)),
    spilledBytes: new Float64Array(columns(7)),
    limitBytes: new Float64Array(columns(8)),
    workers: section.at('workers').list().map(decodeWorker)
  };
}

function decodeWorker(entry: Field): ClusterWorker {
  const [id, address, name, nThreads] = entry.tuple(4) as [Field, Field, Field, Field];
  return { id: id.count(MAX_ID), address: address.text(), name: name.text(), nThreads: nThreads.count() };
}

function demandAll(
  column: Uint8Array | Float32Array | Float64Array, name: string, wanted: string, isGood: (value: number) => boolean
): void {
  for (let i = 0; i < column.length; i += 1) {
    if (!isGood(column[i] as number)) {
      throw new WireError(`buffers.${name}[${i}]`, wanted, column[i]);
    }
  }
}
