/** Everything a page knows of one recorder; any number of views share it. */
import { Listeners } from '../lib/listeners';
import { paletteColour } from '../lib/palette';
import type { Batch, Numbers, TableRow } from '../wire';
import { tableRows } from '../wire';
import type { ClusterStore } from './cluster/cluster-store';
import { HeldStore, ResourceStore } from './series';
import type { RunRange } from './tables';
import { Tables } from './tables';
import type { FailureKind } from './tasks/failures';
import type { LaneTasks } from './tasks/lane-tasks';
import type { AskLinks, Links } from './tasks/links';
import { LinkTable } from './tasks/links';
import { Selection } from './tasks/selection';
import type { TaskDetail } from './tasks/task-table';
import { TaskTable } from './tasks/task-table';

/** What became of a batch. After a gap the host asks for all rows from `cursor` on. */
export type Appended =
  | { readonly kind: 'appended'; readonly rows: number }
  | { readonly kind: 'gap'; readonly cursor: number; readonly reason: string };

export interface TaskStoreOptions {
  /** A steady clock in milliseconds. */
  readonly clockMs?: () => number;
  /** Most tasks that are held, whatever the recorder holds. */
  readonly maxTasks?: number;
  /** Asks the kernel what a task needs; without it nobody knows. */
  readonly ask?: AskLinks;
  /** Takes what only clusters have; left out: that is not kept. */
  readonly cluster?: ClusterStore;
}

/** About 300 MB. */
const MAX_TASKS = 5_000_000;

export class TaskStore {
  tables = new Tables();
  resources = new ResourceStore();
  held = new HeldStore();
  readonly clock: KernelClock;
  readonly selection = new Selection();
  readonly cluster: ClusterStore | null;

  #epoch: string | null = null;
  #tasks = new TaskTable(this.tables);
  #links: LinkTable;
  #dropped = 0;
  #nextSeq: number | null = null;
  #version = 0;
  readonly #clockMs: () => number;
  readonly #ask: AskLinks;
  #maxTasks: number;
  readonly #listeners = new Listeners();

  constructor(options: TaskStoreOptions = {}) {
    this.#clockMs = options.clockMs ?? (() => performance.now());
    this.#ask = options.ask ?? (() => null);
    this.#maxTasks = options.maxTasks ?? MAX_TASKS;
    this.cluster = options.cluster ?? null;
    this.#links = this.#newLinks();
    this.clock = new KernelClock(() => this.#clockMs() / 1000);
  }

  get epoch(): string | null {
    return this.#epoch;
  }
  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }
  /** Rows held. */
  get nTasks(): number {
    return this.#tasks.n;
  }
  /** The recorder's number of the next row to come: the cursor of a hello or resync. */
  get cursor(): number {
    return this.#tasks.nextNumber;
  }
  /** Rows before the next one that are not here: dropped before they came, or since. */
  get missing(): number {
    return this.#tasks.missing;
  }
  /** Rows the recorder no longer holds; some of them may still be here. */
  get dropped(): number {
    return this.#dropped;
  }
  get listenerCount(): number {
    return this.#listeners.size;
  }
  /** Lanes that tasks ended in, by id. */
  get laneIds(): number[] {
    return this.#tasks.laneIds;
  }

  lane(id: number): LaneTasks | undefined {
    return this.#tasks.lane(id);
  }

  /**
   * Take over a batch. Rows that are already here are skipped; after a lost message nothing is taken
   * over but a gap is reported. A new epoch begins with an empty store.
   */
  append(batch: Batch): Appended {
    const { tables } = batch;
    const [state] = tableRows(tables, 'state');
    const dropped = state?.nDropped ?? 0;
    const fresh = batch.epoch !== this.#epoch;
    const expected = fresh ? 0 : this.#nextSeq;
    if (batch.seq !== 0 && batch.seq !== expected) {
      return this.#gap(fresh, `message ${batch.seq} came where ${expected ?? 0} was due`);
    }
    if (fresh) {
      this.#clear(batch.epoch);
    }
    if (batch.seq !== 0 && tables.tasks.n > 0 && tables.tasks.first > this.#tasks.nextNumber && tables.tasks.first > dropped) {
      return this.#gap(false, `row ${tables.tasks.first} came where ${this.#tasks.nextNumber} was due`);
    }
    for (const run of this.tables.merge(tables)) {
      this.#tasks.dropFailures(run);
    }
    const unknown = this.#unknownGroup(tables.tasks.columns.group);
    if (unknown !== null) {
      return this.#gap(false, `group ${unknown} is used but was never announced`);
    }
    const rows = this.#tasks.append(tables, dropped);
    this.#tasks.dropOld(dropped, this.#maxTasks);
    this.resources.take(tables.resources);
    this.held.take(tables.cache);
    this.cluster?.append(tables);
    this.#nextSeq = batch.seq + 1;
    this.#dropped = dropped;
    if (state !== undefined) {
      this.#adopt(state);
    }
    this.#changed();
    return { kind: 'appended', rows };
  }

  /** Tell `listener` about every change until `signal` aborts. It must be quick; painting is for later. */
  subscribe(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener, signal);
  }

  /** Hold at most so many tasks, as of the next batch. */
  configure({ maxTasks }: { readonly maxTasks: number }): void {
    this.#maxTasks = maxTasks;
    this.#changed();
  }

  /** The kernel is gone or out of reach: what runs grows no further. */
  freeze(): void {
    this.clock.freeze();
    this.#changed();
  }

  /** The recorder is gone for good: what ran was cut off when it was last heard of. */
  end(): void {
    this.clock.freeze();
    this.tables.cutOff(this.clock.nowS());
    this.#changed();
  }

  /** The colour of a prefix, by its number in the tables; the same in all views of a session. */
  colour(prefix: number): string {
    return paletteColour(this.tables.colourNumber(prefix));
  }

  keyText(row: number, group: number): string {
    return this.#tasks.keyText(row, group);
  }

  /** The key of a row where it is text; null: it is a name and integers. */
  textKey(row: number): string | null {
    return this.#tasks.textKey(row);
  }

  /** The `i`-th task of a lane. */
  detail(laneId: number, i: number): TaskDetail | null {
    return this.#tasks.detail(laneId, i);
  }

  /** What the task of a row needs and what needs it; asks the kernel where that is not known yet. */
  links(row: number): Links {
    return this.#links.of(row);
  }

  /** Which tasks of these computes but some did not finish and why, by first appearance. */
  failures(runRange: RunRange, except?: ReadonlySet<number>): FailureKind[] {
    return this.#tasks.failures(runRange, except);
  }

  #gap(fresh: boolean, reason: string): Appended {
    return { kind: 'gap', cursor: fresh ? 0 : this.#tasks.nextNumber, reason };
  }

  #newLinks(): LinkTable {
    return new LinkTable({
      ask: this.#ask,
      nowMs: this.#clockMs,
      changed: () => { this.#changed(); },
      nRows: () => this.cursor,
      numberOf: row => this.#tasks.numberOf(row),
      placesOf: numbers => this.#tasks.placesOf(numbers)
    });
  }

  #clear(epoch: string): void {
    this.tables = new Tables();
    this.resources = new ResourceStore();
    this.held = new HeldStore();
    this.cluster?.clear();
    this.selection.select(null, this);
    this.#epoch = epoch;
    this.#tasks = new TaskTable(this.tables);
    this.#links = this.#newLinks();
    this.#nextSeq = null;
  }

  /** Take over how the recorder is as a whole. */
  #adopt({ nowS, active, nCores, limitBytes, cacheUnknown }: TableRow<'state'>): void {
    this.resources.nCores = nCores ?? this.resources.nCores;
    this.resources.limitBytes = limitBytes ?? this.resources.limitBytes;
    this.held.isUnknown ||= cacheUnknown === 1;
    if (nowS !== null) {
      this.clock.hear(nowS, active === 1);
    }
  }

  #unknownGroup(groups: Numbers): number | null {
    for (const group of groups) {
      if (this.tables.prefixOfGroup(group) === undefined) {
        return group;
      }
    }
    return null;
  }

  #changed(): void {
    this.#version += 1;
    this.#listeners.call();
  }
}

/** A difference this large is a clock that was set or a computer that slept, not a slow message. */
const JUMP_S = 2;

export class KernelClock {
  #offsetS: number | null = null;
  #frozenS = 0;
  #heardS = 0;
  #active = false;

  /** @param localS seconds of any steady clock */
  constructor(private readonly localS: () => number) {}

  /** A message said that it is `nowS` there. */
  hear(nowS: number, active: boolean): void {
    const offset = nowS - this.localS();
    const known = this.#offsetS;
    // Messages are only ever late, so the largest difference is the best one.
    if (known === null || offset > known || known - offset > JUMP_S) {
      this.#offsetS = offset;
    }
    this.#frozenS = nowS;
    this.#active = active;
    this.#heardS = this.localS();
  }

  /** For how long no message has come while there should be some. */
  get silentS(): number {
    return this.#active ? this.localS() - this.#heardS : 0;
  }

  /** Stand still, because nobody knows whether anything still runs. */
  freeze(): void {
    this.#frozenS = this.nowS();
    this.#active = false;
  }

  get active(): boolean {
    return this.#active;
  }

  /** Seconds on the recorder's axis. */
  nowS(): number {
    if (!this.#active || this.#offsetS === null) {
      return this.#frozenS;
    }
    return Math.max(this.#frozenS, this.localS() + this.#offsetS);
  }
}
