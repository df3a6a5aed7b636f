/** A recording put together from the frames of a file, complete or not, as `taskscope/export/assembly.py` does. */
import type { Field, Run } from '../wire';
import { isOnCluster } from '../wire';
import { activitiesOf, checkActivities } from './activities';
import { checkRecording } from './checks';
import { demand } from './errors';
import type { Frame } from './frames';
import { graphOf } from './graph';
import { GrownGraphs, rowsInFlight } from './grown';
import { checkHoldings, holdingsOf } from './holdings';
import type { Packed } from './pack';
import { inFile, joined, unpackColumns, unpackJson } from './pack';
import type { FileRecording, Graph, RowBlock, Samples } from './recording';
import { Records, timeOf } from './records';
import { ACTIVITY, ACTIVITY_SIZES, GRAPH, HOLDINGS, ROWS, SAMPLES } from './schema';
import { StreamedTasks } from './streamed';

const MAX_WHOLE = 2 ** 31 - 1;

interface Head {
  readonly startedAt: string;
  readonly zeroS: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly isStreamed: boolean;
  readonly nRows: number;
  /** What is not known by the one that wrote it; null: version 1 did not say. */
  readonly unknown: readonly string[] | null;
}

/** Takes frames in order, and gives the recording of as many as came. */
export class Assembly {
  #head: Head | null = null;
  #dropped: number | null = null;
  #nowS = 0;
  readonly #records = new Records();
  readonly #graphs = new Map<number, Packed[]>();
  readonly #blocks: RowBlock[] = [];
  readonly #streamed = new StreamedTasks();
  readonly #grown = new GrownGraphs();
  #running: Field | null = null;
  readonly #seen = new Set<string>();
  readonly #samples: Packed[] = [];
  readonly #holdings: Packed[] = [];
  readonly #activities: Packed[] = [];
  readonly #activityParts: Packed[] = [];
  readonly #activitySizes: Packed[] = [];

  /** Whether the frame that everything else needs has come. */
  get begun(): boolean {
    return this.#head !== null;
  }

  /** Take the next frame; throws DamagedFileError if it is none that is known here, or contradicts itself. */
  add({ kind, content }: Frame): void {
    if (this.#head === null) {
      demand(kind === 'HEAD', 'a file begins with its head');
      this.#head = headOf(unpackJson(content));
      this.#nowS = this.#head.zeroS;
      return;
    }
    this.#seen.add(kind);
    switch (kind) {
      case 'RECS':
        this.#records.add(unpackJson(content));
        break;
      case 'GRPH':
        this.#addGraph(unpackColumns(content, GRAPH));
        break;
      case 'ROWS':
        this.#addRows(unpackColumns(content, ROWS));
        break;
      case 'TASK':
        this.#streamed.add(content);
        break;
      case 'PART':
        this.#grown.add(content);
        break;
      case 'LAND':
        this.#grown.land(content);
        break;
      case 'SMPL':
        this.#samples.push(unpackColumns(content, SAMPLES));
        break;
      case 'HOLD':
        this.#holdings.push(unpackColumns(content, HOLDINGS));
        break;
      case 'ACTV':
        this.#activities.push(unpackColumns(content, ACTIVITY));
        break;
      case 'ACTP':
        this.#activityParts.push(unpackColumns(content, ACTIVITY));
        break;
      case 'ACTB':
        this.#activitySizes.push(unpackColumns(content, ACTIVITY_SIZES));
        break;
      case 'TICK': {
        const tick = unpackJson(content);
        this.#nowS = inFile(() => tick.at('now_s').number());
        if (namesItsKeys(this.#head)) {
          this.#streamed.setRunning(tick.at('running'));
        } else {
          this.#running = tick.at('running');
        }
        break;
      }
      case 'LAST': {
        const last = unpackJson(content);
        this.#dropped = inFile(() => last.at('dropped').count(MAX_WHOLE));
        this.#nowS = inFile(() => last.at('now_s').number());
        break;
      }
      default:
        // Of what nobody looks at here, such as call stacks.
        break;
    }
  }

  #addGraph(piece: Packed): void {
    const run = inFile(() => piece.head.at('run').count(MAX_WHOLE));
    this.#graphs.set(run, [...(this.#graphs.get(run) ?? []), piece]);
  }

  #addRows({ head, columns }: Packed): void {
    demand(Object.keys(ROWS).every(name => columns.has(name)), 'tasks have all columns');
    this.#blocks.push({
      run: inFile(() => head.at('run').count(MAX_WHOLE)),
      task: columns.get('task') as Int32Array,
      start: columns.get('start') as Float64Array,
      duration: columns.get('duration') as Float32Array,
      cpu: columns.get('cpu') as Float32Array,
      size: columns.get('size') as Uint32Array | Float64Array,
      lane: columns.get('lane') as Uint16Array,
      flags: columns.get('flags') as Uint8Array
    });
  }

  /** What has come; `problem` says why that is not all. Throws DamagedFileError if it contradicts itself. */
  recording(problem: string | null): FileRecording {
    const head = this.#head;
    demand(head !== null, 'a file begins with its head');
    const graphs = new Map<number, Graph>();
    const errorsOf = (run: number): ReadonlyMap<number, string> =>
      new Map(this.#records.errors.filter(error => error.run === run).map(({ task, text }) => [task, text]));
    for (const [run, pieces] of this.#graphs) {
      const graph = graphOf(pieces, errorsOf(run));
      if (graph !== null) {
        graphs.set(run, graph);
      }
    }
    this.#grown.graphs(errorsOf).forEach((graph, run) => graphs.set(run, graph));
    const blocks = this.#blocks.filter(({ run }) => graphs.has(run));
    demand(problem !== null || blocks.length === this.#blocks.length, 'tasks have a graph');
    if (problem !== null) {
      // What has ended after the last look at what was in flight ended later than that.
      this.#nowS = blocks.reduce((nowS, block) => Math.max(nowS, lastStop(block)), this.#nowS);
    }
    const streamed = this.#streamed.tables(this.#nowS, errorsOf);
    const running = this.#running === null ? [] : rowsInFlight(this.#running, blocks, this.#nowS);
    const runs = [...this.#records.runs.values()];
    const unknown = new Set([...(head.unknown ?? []), ...(problem === null ? [] : this.#missing(head, runs, graphs))]);
    const text = problem === null ? null : cutOffText(problem, namesItsKeys(head), unknown);
    const nRows = blocks.reduce((n, block) => n + block.task.length, 0);
    const recording: FileRecording = {
      startedAt: head.startedAt,
      zeroS: head.zeroS,
      nowS: this.#nowS,
      runs: runs.map(run => (problem !== null && head.isStreamed ? ended(run, this.#nowS) : run)),
      groups: this.#records.groups,
      lanes: this.#records.lanes,
      remarks: text === null ? this.#records.remarks : [...this.#records.remarks, { timeS: this.#nowS, level: 'warning', text }],
      blocks: [...blocks, ...running, ...streamed.blocks],
      graphs: new Map([...graphs, ...streamed.graphs]),
      samples: samplesOf(this.#samples),
      activities: activitiesOf([...this.#activities, ...this.#activityParts], this.#activitySizes, this.#activityParts.length > 0),
      sources: this.#records.sources,
      workers: this.#records.workers,
      holdings: holdingsOf(this.#holdings),
      dropped: this.#dropped ?? Math.max(head.nRows - nRows, 0),
      metadata: head.metadata,
      unknown,
      problem: text
    };
    checkRecording(recording);
    checkActivities(recording);
    checkHoldings(recording);
    return recording;
  }

  /** The names of tables that would not be as they are if the file were complete. */
  #missing(head: Head, runs: readonly Run[], graphs: ReadonlyMap<number, Graph>): string[] {
    const isLacking = runs.some(({ run, nTasks }) => nTasks > 0 && !graphs.has(run));
    // A compute may not have counted its tasks when its first keys are written.
    const names = isLacking || [...graphs.values()].some(({ isKnown }) => !isKnown) ? ['cache', 'dependencies'] : [];
    const has: Record<string, boolean> = {
      stacks: this.#seen.has('STCK') || this.#records.nRows('functions') > 0,
      activities: this.#seen.has('ACTV'),
      transfers: this.#records.nRows('transfers') > 0,
      workers: this.#records.nRows('workers') > 0,
      resources: this.#samples.some(({ columns }) => (columns.get('time')?.length ?? 0) > 0)
    };
    if (!head.isStreamed || namesItsKeys(head)) {
      return [...names, ...Object.keys(has).filter(name => has[name] !== true)];
    }
    // A cluster's scheduler is asked for them when the block ends.
    return has.stacks !== true && runs.some(isOnCluster) ? [...names, 'stacks'] : names;
  }
}

/** Whether the file was written while recording by version 1, in which tasks named their own keys. */
function namesItsKeys(head: Head): boolean {
  return head.isStreamed && head.unknown === null;
}

function lastStop({ start, duration }: RowBlock): number {
  return start.reduce((latest, startS, i) => Math.max(latest, startS + (duration[i] as number)), -Infinity);
}

function cutOffText(problem: string, isOld: boolean, unknown: ReadonlySet<string>): string {
  const text = `this file is not complete: ${problem}; what follows after that is missing`;
  if (isOld) {
    return `${text}, and so are dependencies, cache, call stacks and transfers, which are written at the end`;
  }
  return unknown.size === 0 ? text : `${text}; unknown in part or whole: ${[...unknown].sort().join(', ')}`;
}

function ended(run: Run, nowS: number): Run {
  return run.status === 'running' ? { ...run, status: 'interrupted', stopS: nowS } : run;
}

function headOf(head: Field): Head {
  return inFile(() => {
    const startedAt = head.at('started_at').text();
    const isTime = /(?:Z|[+-]\d\d:\d\d)$/.test(startedAt) && !Number.isNaN(Date.parse(startedAt));
    const metadata = head.at('metadata');
    metadata.at('label');
    return {
      startedAt: isTime ? startedAt : head.at('started_at').fail('a time with a time zone'),
      zeroS: timeOf(head.at('zero_s')),
      metadata: metadata.value as Record<string, unknown>,
      isStreamed: head.at('streamed').value === true,
      unknown: head.at('unknown').value === undefined ? null : head.at('unknown').orNull(f => f.list().map(name => name.text())),
      nRows: head.at('n_rows').value === undefined ? 0 : (head.at('n_rows').orNull(f => f.count(MAX_WHOLE)) ?? 0)
    };
  });
}

function samplesOf(parts: readonly Packed[]): Samples {
  for (const { columns } of parts) {
    demand(columns.size === Object.keys(SAMPLES).length, 'samples have all columns');
    demand(new Set([...columns.values()].map(c => c.length)).size === 1, 'columns of samples must be equally long');
  }
  const column = (name: string): Float64Array =>
    joined(parts.map(({ columns }) => columns.get(name) as Float64Array), new Float64Array());
  return {
    time: column('time'),
    cpuPercent: column('cpu_percent'),
    rssBytes: column('rss_bytes'),
    nProcesses: column('n_processes'),
    gap: column('gap')
  };
}
