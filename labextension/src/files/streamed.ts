/** Tasks as version 1 wrote them while recording: each names its own key, for its graph was not written. */
import type { Field } from '../wire';
import { TEXT_KEY } from '../wire';
import { demand } from './errors';
import { KeyBlock } from './keys';
import type { Packed } from './pack';
import { inFile, joined, unpackColumns } from './pack';
import type { Graph, RowBlock } from './recording';
import { STATUSES } from './recording';
import type { Column } from './schema';
import { TASK, UNKNOWN_U4 } from './schema';

const INTERRUPTED = STATUSES.indexOf('interrupted');
const MAX_WHOLE = 2 ** 31 - 1;
const MAX_LANE = 2 ** 16 - 1;

interface Running {
  readonly run: number;
  readonly lane: number;
  readonly group: number;
  readonly key: string;
  readonly startS: number;
}

interface Part {
  readonly columns: ReadonlyMap<string, Column>;
  readonly keys: KeyBlock;
}

/** Gathers such tasks, and makes a graph without dependencies for each run. */
export class StreamedTasks {
  readonly #parts: Part[] = [];
  #running: readonly Running[] = [];

  /** Take tasks that have ended. */
  add(content: Uint8Array): void {
    const { columns }: Packed = unpackColumns(content, TASK);
    demand(Object.keys(TASK).every(name => columns.has(name)), 'tasks have all columns');
    const keys = KeyBlock.of(columns);
    keys.check();
    const lengths = OWN.map(name => columns.get(name)?.length);
    demand(lengths.every(n => n === keys.length), 'a task has one key');
    this.#parts.push({ columns, keys });
    // One of these may have been in flight when that was last noted.
    this.#running = [];
  }

  /** Take the tasks that are in flight now; those of which the worker is unknown have no lane. */
  setRunning(rows: Field): void {
    this.#running = inFile(() => rows.list().flatMap(row => runningTask(row) ?? []));
  }

  /**
   * Graphs and tasks by run; what is in flight at the end was interrupted at `nowS`. What a task raised is told by its
   * place among those of its run.
   */
  tables(nowS: number, errorsOf: (run: number) => ReadonlyMap<number, string>): { graphs: Map<number, Graph>; blocks: RowBlock[] } {
    const parts = this.#running.length > 0 ? [...this.#parts, interrupted(this.#running, nowS)] : this.#parts;
    const runs = new Set(parts.flatMap(part => [...new Set(part.columns.get('run'))]));
    const graphs = new Map<number, Graph>();
    const blocks: RowBlock[] = [];
    for (const run of [...runs].sort((a, b) => a - b)) {
      const mine = parts.map(part => ({ part, rows: placesOf(part.columns.get('run') as Int32Array, run) }));
      const column = <T extends Column>(name: string, empty: T): T =>
        joined(mine.map(({ part, rows }) => taken(part.columns.get(name) as T, rows)), empty);
      const sizes = mine.map(({ part, rows }) => taken(wide(part.columns.get('size')), rows));
      const keys = KeyBlock.concat(mine.map(({ part, rows }) => part.keys.take(rows)));
      graphs.set(run, graphOfKeys(keys, column('group', new Uint32Array()), errorsOf(run)));
      blocks.push({
        run,
        task: Int32Array.from({ length: keys.length }, (_, i) => i),
        start: column('start', new Float64Array()),
        duration: column('duration', new Float32Array()),
        cpu: column('cpu', new Float32Array()),
        size: joined(sizes, new Float64Array()),
        lane: column('lane', new Uint16Array()),
        flags: column('flags', new Uint8Array())
      });
    }
    return { graphs, blocks };
  }
}

const OWN = Object.keys(TASK).filter(name => !['dims', 'ints', 'text_bytes', 'texts'].includes(name));

function runningTask(row: Field): Running | null {
  const [run, lane, group, key, start] = row.tuple(5) as [Field, Field, Field, Field, Field];
  const place = lane.orNull(f => f.count(MAX_LANE));
  return place === null
    ? null
    : { run: run.count(MAX_WHOLE), lane: place, group: group.count(MAX_WHOLE), key: key.text(), startS: start.number() };
}

function interrupted(running: readonly Running[], nowS: number): Part {
  const n = running.length;
  const texts = running.map(task => new TextEncoder().encode(task.key));
  const columns = new Map<string, Column>([
    ['run', Int32Array.from(running, task => task.run)],
    ['group', Uint32Array.from(running, task => task.group)],
    ['lane', Uint16Array.from(running, task => task.lane)],
    ['start', Float64Array.from(running, task => task.startS)],
    ['duration', Float32Array.from(running, task => Math.max(nowS - task.startS, 0))],
    ['cpu', new Float32Array(n).fill(NaN)],
    ['size', new Float64Array(n).fill(NaN)],
    ['flags', new Uint8Array(n).fill(INTERRUPTED)]
  ]);
  const keys = new KeyBlock(
    new Uint8Array(n).fill(TEXT_KEY), new Int32Array(), Uint32Array.from(texts, text => text.length), joined(texts, new Uint8Array())
  );
  return { columns, keys };
}

function placesOf(column: Int32Array, run: number): number[] {
  const places: number[] = [];
  column.forEach((value, i) => {
    if (value === run) {
      places.push(i);
    }
  });
  return places;
}

function taken<T extends Column>(column: T, rows: readonly number[]): T {
  const Typed = column.constructor as new (n: number) => T;
  const found = new Typed(rows.length);
  rows.forEach((row, i) => {
    found[i] = column[row] as number;
  });
  return found;
}

function wide(sizes: Column | undefined): Float64Array {
  return sizes instanceof Float64Array
    ? sizes
    : Float64Array.from(sizes ?? [], size => (size === UNKNOWN_U4 ? NaN : size));
}

function graphOfKeys(keys: KeyBlock, group: Uint32Array, errors: ReadonlyMap<number, string>): Graph {
  const n = keys.length;
  return {
    keys,
    group,
    nDependencies: new Uint8Array(n),
    edges: new Int32Array(),
    enter: new Float64Array(n).fill(NaN),
    enterZero: 0,
    kept: new Int32Array(),
    data: new Int32Array(),
    dataSizes: new Float64Array(),
    values: null,
    spared: new Int32Array(),
    errors,
    isKnown: false
  };
}
