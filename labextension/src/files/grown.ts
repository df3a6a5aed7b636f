/** Graphs of a file that was written while recording, put together from what was appended, as `taskscope/export/grown.py` does. */
import type { Field } from '../wire';
import { demand } from './errors';
import { KeyBlock } from './keys';
import type { Packed } from './pack';
import { inFile, joined, unpackColumns } from './pack';
import type { Graph, RowBlock } from './recording';
import { SCHEDULER_OBSERVED, STATUSES } from './recording';
import { timeOf } from './records';
import type { Column } from './schema';
import { GRAPH, LANDED } from './schema';

const MAX_WHOLE = 2 ** 31 - 1;
const MAX_LANE = 2 ** 16 - 1;
const INTERRUPTED = STATUSES.indexOf('interrupted');
const NAMED = ['dims', 'ints', 'text_bytes', 'texts', 'group', 'data', 'data_sizes'];
const LINKED = ['n_dependencies', 'edges'];

/** Takes parts of graphs in order, and gives the graphs of as many as came. */
export class GrownGraphs {
  readonly #parts = new Map<number, Packed[]>();
  readonly #landed = new Map<number, Packed[]>();

  /** Take the next part of a graph. */
  add(content: Uint8Array): void {
    const part = unpackColumns(content, GRAPH);
    const has = (name: string): boolean => part.columns.has(name);
    const areWhole = [NAMED, LINKED].every(names => names.every(has) || !names.some(has));
    demand(areWhole && !['enter', 'values', 'spared'].some(has), 'a part of a graph has keys, dependencies, or what is kept');
    append(this.#parts, part);
  }

  /** Take what has landed, or does not have to. */
  land(content: Uint8Array): void {
    const part = unpackColumns(content, LANDED);
    const { columns } = part;
    demand(columns.has('task') && columns.size === 2, 'what landed has a time or a value, or does not have to run');
    demand(new Set([...columns.values()].map(c => c.length)).size === 1, 'columns of landings must be equally long');
    append(this.#landed, part);
  }

  /** Each run with its graph. Of one of which not all was written, dependencies and what was held are not known. */
  graphs(errorsOf: (run: number) => ReadonlyMap<number, string>): Map<number, Graph> {
    return new Map([...this.#parts].map(([run, parts]) => [run, graphOf(parts, this.#landed.get(run) ?? [], errorsOf(run))]));
  }
}

function append(parts: Map<number, Packed[]>, part: Packed): void {
  const run = inFile(() => part.head.at('run').count(MAX_WHOLE));
  const known = parts.get(run);
  if (known === undefined) {
    parts.set(run, [part]);
  } else {
    known.push(part);
  }
}

function graphOf(parts: readonly Packed[], landed: readonly Packed[], errors: ReadonlyMap<number, string>): Graph {
  const head = parts.at(-1)?.head;
  demand(head !== undefined, 'a graph has a head');
  const column = <T extends Column>(name: string, empty: T): T =>
    joined(parts.flatMap(({ columns }) => (columns.get(name) as T | undefined) ?? []), empty);
  const keys = KeyBlock.of(new Map<string, Column>([
    ['dims', column('dims', new Uint8Array())],
    ['ints', column('ints', new Int32Array())],
    ['text_bytes', column('text_bytes', new Uint32Array())],
    ['texts', column('texts', new Uint8Array())]
  ]));
  const n = keys.length;
  const nDependencies = column('n_dependencies', new Uint32Array());
  const nKeys = inFile(() => head.at('n_keys').count(MAX_WHOLE));
  const isKnown = n === nDependencies.length && n === nKeys && head.at('settled').value === nKeys;
  const startS = inFile(() => timeOf(head.at('start')));
  const data = column('data', new Int32Array());
  const dataSizes = column('data_sizes', new Float64Array());
  demand(data.length === dataSizes.length, 'data must have sizes');
  const { enter, values, spared } = landings(landed, n);
  data.forEach(key => {
    demand(key >= 0 && key < n, 'a key must be in its graph');
    enter[key] = startS;
  });
  return {
    keys,
    group: column('group', new Uint32Array()),
    nDependencies: isKnown ? nDependencies : new Uint8Array(n),
    edges: isKnown ? column('edges', new Int32Array()) : new Int32Array(),
    enter: isKnown ? enter : new Float64Array(n).fill(NaN),
    enterZero: startS,
    kept: isKnown ? column('kept', new Int32Array()) : new Int32Array(),
    data,
    dataSizes,
    values: isKnown ? values : null,
    spared: Int32Array.from([...spared.keys()].filter(task => spared[task] !== 0)),
    errors,
    isKnown
  };
}

interface Landings {
  readonly enter: Float64Array;
  readonly values: Float64Array | null;
  /** 1: does not have to run. */
  readonly spared: Uint8Array;
}

function landings(parts: readonly Packed[], n: number): Landings {
  const found = { enter: new Float64Array(n).fill(NaN), values: new Float64Array(n).fill(NaN), spared: new Uint8Array(n) };
  for (const { columns } of parts) {
    const tasks = columns.get('task') as Int32Array;
    demand(tasks.every(task => task >= 0 && task < n), 'what landed must be in its graph');
    for (const name of ['enter', 'values', 'spared'] as const) {
      columns.get(name)?.forEach((told: number, i: number) => {
        found[name][tasks[i] as number] = told;
      });
    }
  }
  return { ...found, values: parts.some(({ columns }) => columns.has('values')) ? found.values : null };
}

interface InFlight {
  readonly run: number;
  readonly lane: number;
  readonly task: number;
  readonly startS: number;
  readonly flags: number;
}

/** Tasks that were in flight at `nowS` as interrupted then, but those that have ended since. */
export function rowsInFlight(rows: Field, blocks: readonly RowBlock[], nowS: number): RowBlock[] {
  const found = inFile(() => rows.list().map(inFlight));
  return [...new Set(found.map(({ run }) => run))].map(run => {
    const ended = new Set(blocks.filter(block => block.run === run).flatMap(({ task }) => [...task]));
    const tasks = found.filter(each => each.run === run && !ended.has(each.task));
    const n = tasks.length;
    return {
      run,
      task: Int32Array.from(tasks, ({ task }) => task),
      start: Float64Array.from(tasks, ({ startS }) => startS),
      duration: Float32Array.from(tasks, ({ startS }) => Math.max(nowS - startS, 0)),
      cpu: new Float32Array(n).fill(NaN),
      size: new Float64Array(n).fill(NaN),
      lane: Uint16Array.from(tasks, ({ lane }) => lane),
      flags: Uint8Array.from(tasks, ({ flags }) => (flags & SCHEDULER_OBSERVED) | INTERRUPTED)
    };
  });
}

function inFlight(row: Field): InFlight {
  const [run, lane, task, start, flags] = row.tuple(5) as [Field, Field, Field, Field, Field];
  return {
    run: run.count(MAX_WHOLE), lane: lane.count(MAX_LANE), task: task.count(MAX_WHOLE), startS: start.number(), flags: flags.count(255)
  };
}
