/** The buffers after those of tasks: samples of resources, and what schedulers held. */
import type { Field } from './check';
import { WireError } from './check';
import type { WireBuffer } from './columns';
import { bytesOf } from './columns';
import type { HeldColumns, ResourceColumns } from './schema';
import { HELD_BUFFERS, RESOURCE_BUFFERS } from './schema';

/** More rows than any message has; a hostile count must not allocate. */
const MAX_ROWS = 1_000_000;
const MAX_RUN = 2 ** 31 - 1;

type Layout = readonly { readonly name: string; readonly bytes: number }[];

/** Decode both sections of a message; `buffers` are all that follow those of tasks. */
export function decodeSeries(
  message: Field,
  buffers: readonly WireBuffer[]
): { resources: ResourceColumns; held: HeldColumns } {
  return {
    resources: decodeResources(message.at('resources'), buffers.slice(0, RESOURCE_BUFFERS.length)),
    held: decodeHeld(message.at('held'), buffers.slice(RESOURCE_BUFFERS.length))
  };
}

function decodeResources(section: Field, buffers: readonly WireBuffer[]): ResourceColumns {
  const columns = copies(RESOURCE_BUFFERS, buffers, section.at('count').count(MAX_ROWS));
  return {
    first: section.at('first').count(),
    dropped: section.at('dropped').count(),
    nCores: section.at('n_cores').orNull(f => f.count()),
    limitBytes: section.at('limit_bytes').orNull(f => f.count()),
    timeS: finite(new Float64Array(columns(0)), 'sample_time_s'),
    cpuPercent: new Float32Array(columns(1)),
    rssBytes: finite(new Float64Array(columns(2)), 'rss_bytes'),
    nProcesses: new Uint16Array(columns(3)),
    gap: new Uint8Array(columns(4))
  };
}

function decodeHeld(section: Field, buffers: readonly WireBuffer[]): HeldColumns {
  const count = section.at('count').count(MAX_ROWS);
  const { run, metrics } = decodeRuns(section.at('runs'), count);
  const columns = copies(HELD_BUFFERS, buffers, count, metrics.size === 0 ? [5, 6] : []);
  const baseS = section.at('base_s').number();
  return {
    first: section.at('first').count(),
    dropped: section.at('dropped').count(),
    run,
    group: new Uint16Array(columns(0)),
    timeS: Float64Array.from(new Uint32Array(columns(1)), us => baseS + us * 1e-6),
    nKeys: new Uint32Array(columns(2)),
    nbytes: finite(new Float64Array(columns(3)), 'held_nbytes'),
    nUnsized: new Uint32Array(columns(4)),
    value: metrics.size === 0 ? null : finite(new Float64Array(columns(5)), 'held_value'),
    nUnvalued: metrics.size === 0 ? null : new Uint32Array(columns(6)),
    metrics,
    isUnknown: section.at('unknown').flag()
  };
}

function decodeRuns(field: Field, count: number): { run: Int32Array; metrics: Map<number, string> } {
  const run = new Int32Array(count);
  const metrics = new Map<number, string>();
  let at = 0;
  for (const entry of field.list()) {
    const [number, n, metric] = entry.tuple(3) as [Field, Field, Field];
    const id = number.count(MAX_RUN);
    const name = metric.orNull(f => f.text());
    const stop = at + n.count(MAX_ROWS);
    run.fill(id, at, stop);
    at = stop;
    if (name !== null) {
      metrics.set(id, name);
    }
  }
  if (at !== count) {
    throw new WireError(field.path, `runs of ${count} rows altogether`, at);
  }
  return { run, metrics };
}

/** Which compute each of `count` rows belongs to. */
export function decodeRunsOf(field: Field, count: number): Int32Array {
  const runs = new Int32Array(count);
  let at = 0;
  for (const entry of field.list()) {
    const [run, n] = entry.tuple(2) as [Field, Field];
    const stop = at + n.count(MAX_ROWS);
    runs.fill(run.count(MAX_RUN), at, stop);
    at = stop;
  }
  if (at !== count) {
    throw new WireError(field.path, `runs of ${count} rows altogether`, at);
  }
  return runs;
}

/** The buffers' bytes, copied and so aligned; as long as `count` asks for, but for those that are to be empty. */
export function copies(
  layout: Layout,
  buffers: readonly WireBuffer[],
  count: number,
  empty: readonly number[] = []
): (i: number) => ArrayBuffer {
  const found = layout.map(({ name, bytes }, i) => {
    const view = bytesOf(buffers[i], name);
    const length = empty.includes(i) ? 0 : count * bytes;
    if (view.byteLength !== length) {
      throw new WireError(`buffers.${name}`, `${length} bytes for ${count} rows`, view.byteLength);
    }
    return view.slice().buffer;
  });
  return i => found[i] ?? new ArrayBuffer(0);
}

function finite(column: Float64Array<ArrayBuffer>, name: string): Float64Array {
  const bad = column.findIndex(value => !Number.isFinite(value));
  if (bad >= 0) {
    throw new WireError(`buffers.${name}[${bad}]`, 'a finite number', column[bad]);
  }
  return column;
}
