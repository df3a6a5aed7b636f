/** Everything a page knows of one recorder; any number of views share it. */
import type { PaletteName } from '../lib/palette';
import { PALETTES } from '../lib/palette';
import type { Batch, LinksAnswer, TaskColumns, TaskStatus } from '../wire';
import { STATUSES, UNKNOWN_CODE } from '../wire';
import type { ClusterStore } from './cluster-store';
import type { FailureKind } from './failures';
import { Failures } from './failures';
import { HeldStore } from './held-store';
import { KernelClock } from './kernel-clock';
import { LaneTasks, SCHEDULER_BIT, STATUS_BITS } from './lane-tasks';
import type { AskLinks, Links } from './links';
import { LinkTable } from './links';
import { placesOf } from './places';
import { PrefixColours } from './prefix-colours';
import { ResourceStore } from './resource-store';
import { RowColumns } from './row-columns';
import { RowNumbers } from './row-numbers';
import { Selection } from './selection';
import type { RunWindow } from './tables';
import { Tables } from './tables';

/** What became of a batch. After a gap the host asks for all rows from `cursor` on. */
export type Appended =
  | { readonly kind: 'appended'; readonly rows: number }
  | { readonly kind: 'gap'; readonly cursor: number; readonly reason: string };

/** All there is to say about one ended task. */
export interface TaskDetail {
  readonly key: string;
  readonly group: string;
  readonly prefix: string;
  readonly run: number;
  readonly startS: number;
  readonly stopS: number;
  /** CPU seconds per second of duration; null: unknown. */
  readonly cpuShare: number | null;
  readonly sizeBytes: number | null;
  readonly status: TaskStatus;
  readonly observedBy: 'worker' | 'scheduler';
  /** What it raised, type and message; null: nothing, or nobody knows. */
  readonly error: string | null;
}

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
/** As many tasks more may be held before old ones go. */
const SLACK = 65_536;

export class TaskStore {
  tables = new Tables();
  resources = new ResourceStore();
  held = new HeldStore();
  readonly clock: KernelClock;
  readonly selection = new Selection();
  readonly cluster: ClusterStore | null;

  #epoch: string | null = null;
  #lanes: (LaneTasks | undefined)[] = [];
  #rows = new RowColumns();
  #failures = new Failures();
  #numbers = new RowNumbers();
  #links: LinkTable;
  #nextRow = 0;
  #neverCame = 0;
  #dropped = 0;
  #recorded = 0;
  #nextSeq: number | null = null;
  #heardMs: number | null = null;
  #version = 0;
  readonly #clockMs: () => number;
  readonly #ask: AskLinks;
  #maxTasks: number;
  #palette: PaletteName = 'taskscope';
  readonly #colours = new Map<string, PrefixColours>();
  readonly #listeners = new Set<() => void>();

  constructor(options: TaskStoreOptions = {}) {
    this.#clockMs = options.clockMs ?? (() => performance.now());
    this.#ask = options.ask ?? (() => false);
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
    return this.#rows.next - this.#rows.first;
  }
  /** The recorder's number of the next row to come: the cursor of a hello or resync. */
  get cursor(): number {
    return this.#nextRow;
  }
  /** Rows the recorder ever had. */
  get recorded(): number {
    return this.#recorded;
  }
  /** Rows before the next one that are not here: dropped before they came, or since. */
  get missing(): number {
    return this.#neverCame + this.#rows.first;
  }
  /** Rows the recorder no longer holds; some of them may still be here. */
  get dropped(): number {
    return this.#dropped;
  }
  get listenerCount(): number {
    return this.#listeners.size;
  }
  /** Milliseconds since the last message; null before the first. */
  get silentMs(): number | null {
    return this.#heardMs === null ? null : this.#clockMs() - this.#heardMs;
  }
  /** Lanes that tasks ended in, by id. */
  get laneIds(): number[] {
    return this.#lanes.flatMap((lane, id) => (lane === undefined ? [] : [id]));
  }

  lane(id: number): LaneTasks | undefined {
    return this.#lanes[id];
  }

  /**
   * Take over a batch. Rows that are already here are skipped; after a lost message nothing is taken
   * over but a gap is reported. A new epoch begins with an empty store.
   */
  append(batch: Batch): Appended {
    const fresh = batch.epoch !== this.#epoch;
    const expected = fresh ? 0 : this.#nextSeq;
    if (batch.seq !== 0 && batch.seq !== expected) {
      return this.#gap(fresh, `message ${batch.seq} came where ${expected ?? 0} was due`);
    }
    if (fresh) {
      this.#clear(batch.epoch);
    }
    if (batch.seq !== 0 && batch.first > this.#nextRow && batch.first > batch.dropped) {
      return this.#gap(false, `row ${batch.first} came where ${this.#nextRow} was due`);
    }
    if (batch.seq === 0) {
      this.#links.forgetAsked();
    }
    for (const run of this.tables.merge(batch)) {
      this.#failures.dropRun(run);
    }
    const unknown = this.#unknownGroup(batch.tasks);
    if (unknown !== null) {
      return this.#gap(false, `group ${unknown} is used but was never announced`);
    }
    const rows = this.#appendRows(batch);
    this.#dropOld(batch.dropped);
    this.resources.append(batch.resources);
    this.held.append(batch.held);
    if (batch.cluster !== null) {
      this.cluster?.append(batch.cluster);
    }
    this.#nextSeq = batch.seq + 1;
    this.#dropped = batch.dropped;
    this.#recorded = Math.max(batch.cursor, this.#nextRow);
    this.#heardMs = this.#clockMs();
    if (batch.nowS !== null) {
      this.clock.hear(batch.nowS, batch.active);
    }
    this.#changed();
    return { kind: 'appended', rows };
  }

  /** Tell `listener` about every change until `signal` aborts. It must be quick; painting is for later. */
  subscribe(listener: () => void, signal: AbortSignal): void {
    if (signal.aborted) {
      return;
    }
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** Hold at most so many tasks, as of the next batch, and give prefixes these colours. */
  configure({ maxTasks, palette }: { readonly maxTasks: number; readonly palette: PaletteName }): void {
    this.#maxTasks = maxTasks;
    this.#palette = palette;
    this.#changed();
  }

  /** The kernel is gone or out of reach: what runs grows no further. */
  freeze(): void {
    this.clock.freeze();
    this.#changed();
  }

  /** Forget everything, as if nothing had come yet. */
  clear(): void {
    this.#clear(null);
    this.#changed();
  }

  /** The colours that all views of these computes share. */
  colours(window: RunWindow): PrefixColours {
    const name = `${window.firstRun}-${window.lastRun ?? ''}`;
    let colours = this.#colours.get(name);
    if (colours === undefined) {
      colours = new PrefixColours(this.tables, window, () => PALETTES[this.#palette]);
      this.#colours.set(name, colours);
    }
    colours.refresh();
    return colours;
  }

  keyText(row: number, group: number): string {
    return this.#rows.keys.text(row, this.tables.groups[group]?.name ?? '?');
  }

  /** The key of a row where it is text; null: it is a name and integers. */
  textKey(row: number): string | null {
    const parts = this.#rows.keys.isText(row) ? this.#rows.keys.parts(row) : null;
    return typeof parts === 'string' ? parts : null;
  }

  /** The same in UTF-8. */
  textKeyBytes(row: number): Uint8Array | null {
    return this.#rows.keys.bytes(row);
  }

  /** The `i`-th task of a lane. */
  detail(laneId: number, i: number): TaskDetail | null {
    const lane = this.#lanes[laneId];
    if (lane === undefined || i < 0 || i >= lane.n) {
      return null;
    }
    const row = lane.row[i] ?? 0;
    const group = lane.group[i] ?? 0;
    const flags = lane.flags[i] ?? 0;
    return {
      key: this.keyText(row, group),
      group: this.tables.groups[group]?.name ?? '?',
      prefix: this.tables.groups[group]?.prefix ?? '?',
      run: lane.run[i] ?? 0,
      startS: lane.startS[i] ?? 0,
      stopS: lane.stopS[i] ?? 0,
      cpuShare: this.#rows.cpuShare(row),
      sizeBytes: this.#rows.sizeBytes(row),
      status: STATUSES[flags & STATUS_BITS] ?? 'finished',
      observedBy: (flags & SCHEDULER_BIT) === 0 ? 'worker' : 'scheduler',
      error: this.#failures.error(row)
    };
  }

  /** What the task of a row needs and what needs it; asks the kernel where that is not known yet. */
  links(row: number): Links {
    return this.#links.of(row);
  }

  /** Take over the kernel's answer. */
  answerLinks(epoch: string, { row, links }: LinksAnswer): void {
    if (epoch === this.#epoch) {
      this.#links.answer(row, links);
      this.#changed();
    }
  }

  /** Which tasks of these computes did not finish and why, by first appearance. */
  failures(window: RunWindow): FailureKind[] {
    return this.#failures.in(window);
  }

  #gap(fresh: boolean, reason: string): Appended {
    return { kind: 'gap', cursor: fresh ? 0 : this.#nextRow, reason };
  }

  #newLinks(): LinkTable {
    return new LinkTable({
      ask: this.#ask,
      nowMs: this.#clockMs,
      numberOf: row => this.#numbers.numberOf(row),
      placesOf: numbers => placesOf(numbers, this.#numbers, this.#lanes)
    });
  }

  #clear(epoch: string | null): void {
    this.tables = new Tables();
    this.resources = new ResourceStore();
    this.held = new HeldStore();
    this.cluster?.clear();
    this.#colours.clear();
    this.selection.select(null, this);
    this.#epoch = epoch;
    this.#lanes = [];
    this.#rows = new RowColumns();
    this.#failures = new Failures();
    this.#numbers = new RowNumbers();
    this.#links = this.#newLinks();
    this.#nextRow = 0;
    this.#neverCame = 0;
    this.#nextSeq = null;
  }

  #unknownGroup(tasks: TaskColumns): number | null {
    for (const group of tasks.group) {
      if (this.tables.prefixOfGroup(group) === undefined) {
        return group;
      }
    }
    return null;
  }

  #appendRows(batch: Batch): number {
    const { tasks, first, count } = batch;
    this.#neverCame += Math.max(first - this.#nextRow, 0);
    const skip = Math.min(Math.max(this.#nextRow - first, 0), count);
    const base = this.#rows.next - skip;
    if (skip < count) {
      this.#numbers.begin(base + skip, first + skip);
    }
    this.#rows.append(tasks, skip);
    const touched = new Set<LaneTasks>();
    for (let i = skip; i < count; i += 1) {
      const lane = this.#laneOf(tasks.lane[i] ?? 0);
      const group = tasks.group[i] ?? 0;
      touched.add(lane);
      lane.push(
        tasks.startS[i] ?? 0,
        tasks.stopS[i] ?? 0,
        group,
        this.tables.prefixOfGroup(group) ?? 0,
        (tasks.status[i] ?? 0) | (tasks.scheduler[i] === 1 ? SCHEDULER_BIT : 0),
        tasks.run[i] ?? 0,
        base + i
      );
    }
    touched.forEach(lane => {
      lane.settle();
    });
    this.#noteFailures(batch, skip, base);
    this.#nextRow = Math.max(this.#nextRow, first + count);
    return count - skip;
  }

  /** Keep what the recorder keeps, and no more than fits; not for each message, because it moves all that stays. */
  #dropOld(dropped: number): void {
    const { first, next } = this.#rows;
    const row = Math.min(Math.max(this.#numbers.firstRowFrom(dropped), next - this.#maxTasks, first), next);
    if (row - first < SLACK && (row < next || row === first)) {
      return;
    }
    this.#rows.drop(row);
    this.#failures.drop(row);
    this.#numbers.drop(row);
    for (const lane of this.#lanes) {
      lane?.drop(row);
    }
  }

  /** Row `i` of the batch is row `base + i` here; the first `skip` are known already. */
  #noteFailures({ tasks, errors, count }: Batch, skip: number, base: number): void {
    let nFailed = 0;
    for (let i = 0; i < count; i += 1) {
      const status = STATUSES[tasks.status[i] ?? 0];
      if (status === undefined || status === 'finished') {
        continue;
      }
      const error = errors[tasks.error[nFailed] ?? UNKNOWN_CODE] ?? null;
      nFailed += 1;
      if (i >= skip) {
        const [row, group] = [base + i, tasks.group[i] ?? 0];
        const prefix = this.tables.groups[group]?.prefix ?? '?';
        this.#failures.add(tasks.run[i] ?? 0, { prefix, status, error }, row, () => ({
          row, lane: tasks.lane[i] ?? 0, startS: tasks.startS[i] ?? 0, key: this.keyText(row, group)
        }));
      }
    }
  }

  #laneOf(id: number): LaneTasks {
    return (this.#lanes[id] ??= new LaneTasks());
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of [...this.#listeners]) {
      listener();
    }
  }
}
