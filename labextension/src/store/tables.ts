/** The small tables of a recorder: what there is a handful of, unlike tasks. */
import type { Estimate, Group, Lane, PageTables, PrefixProgress, Remark, Run, RunningTask, StopWay } from '../wire';
import { tableRows } from '../wire';

/** The computes a view shows, both ends included; `lastRun` null: and all that come. */
export interface RunRange {
  readonly firstRun: number;
  readonly lastRun: number | null;
}

export const ALL_RUNS: RunRange = { firstRun: 0, lastRun: null };

const MAX_REMARKS = 1000;

export function inRunRange(run: number, { firstRun, lastRun }: RunRange): boolean {
  return run >= firstRun && (lastRun === null || run <= lastRun);
}

export class Tables {
  readonly groups: (Group | undefined)[] = [];
  readonly lanes: (Lane | undefined)[] = [];
  readonly prefixes: string[] = [];
  readonly runs = new Map<number, Run>();
  remarks: Remark[] = [];
  running: readonly RunningTask[] = [];
  estimates: readonly Estimate[] = [];
  /** How computes that run can be stopped, by their numbers. */
  stops: ReadonlyMap<number, StopWay> = new Map();
  /** What keeps computes from going on, by their numbers. */
  liveStates: ReadonlyMap<number, string> = new Map();

  readonly #prefixIds = new Map<string, number>();
  readonly #prefixOfGroup: number[] = [];
  readonly #colourNumbers: (number | null)[] = [];
  readonly #progress = new Map<number, Map<string, PrefixProgress>>();

  /**
   * Take over what a batch says; the first one of a stream repeats everything.
   *
   * Returns the computes that are only in sums from now on.
   */
  merge(tables: PageTables): number[] {
    for (const [i, group] of tableRows(tables, 'groups').entries()) {
      const id = tables.groups.first + i;
      this.groups[id] = group;
      const prefix = this.prefixId(group.prefix);
      this.#prefixOfGroup[id] = prefix;
      this.#colourNumbers[prefix] ??= group.colour;
    }
    for (const [i, lane] of tableRows(tables, 'lanes').entries()) {
      this.lanes[tables.lanes.first + i] = lane;
    }
    const addedUp = tableRows(tables, 'runs').flatMap(run => this.#addRun(run));
    for (const row of tableRows(tables, 'progress')) {
      let ofRun = this.#progress.get(row.run);
      if (ofRun === undefined) {
        ofRun = new Map();
        this.#progress.set(row.run, ofRun);
      }
      ofRun.set(row.prefix, row);
      this.prefixId(row.prefix);
    }
    this.running = tableRows(tables, 'running').map(({ run, lane, group, startS, keyText }) => ({ run, lane, group, startS, keyText: keyText ?? '' }));
    this.estimates = tableRows(tables, 'estimates');
    this.stops = new Map(tableRows(tables, 'stops').map(({ run, way }) => [run, way]));
    this.liveStates = new Map(tableRows(tables, 'live_states').map(({ run, text }) => [run, text]));
    this.#mergeRemarks(tables);
    return addedUp;
  }

  /** Take over a compute, or computes that are added up; returns those that have no row of their own any more. */
  #addRun(run: Run): number[] {
    this.runs.set(run.run, run);
    const { lastRun } = run;
    const gone = lastRun === null ? [] : [...this.runs.keys()].filter(number => number > run.run && number <= lastRun);
    for (const number of gone) {
      this.runs.delete(number);
      this.#progress.delete(number);
    }
    return gone;
  }

  /** The array stays where nothing else is said. */
  #mergeRemarks(tables: PageTables): void {
    const { first, n } = tables.messages;
    if (n > 0 || (first === 0 && this.remarks.length > 0)) {
      this.remarks = [...(first === 0 ? [] : this.remarks), ...tableRows(tables, 'messages')].slice(-MAX_REMARKS);
    }
  }

  /** What runs ends here. */
  cutOff(stopS: number): void {
    for (const run of this.runs.values()) {
      if (run.status === 'running') {
        this.runs.set(run.run, { ...run, status: 'interrupted', stopS });
      }
    }
    for (const rows of this.#progress.values()) {
      for (const row of rows.values()) {
        rows.set(row.prefix, { ...row, running: 0, interrupted: row.interrupted + row.running, scheduledS: null });
      }
    }
    // What was running stays: it reaches to where the clock stands still.
    this.estimates = [];
    this.stops = this.liveStates = new Map();
  }

  prefixId(prefix: string): number {
    const known = this.#prefixIds.get(prefix);
    if (known !== undefined) {
      return known;
    }
    const id = this.prefixes.push(prefix) - 1;
    this.#prefixIds.set(prefix, id);
    return id;
  }

  /** Which colour a prefix has, by its number; files of old have none, so that it is by first appearance here. */
  colourNumber(prefix: number): number {
    return this.#colourNumbers[prefix] ?? prefix;
  }

  prefixOfGroup(group: number): number | undefined {
    return this.#prefixOfGroup[group];
  }

  runsIn(runRange: RunRange): Run[] {
    return [...this.runs.values()].filter(run => inRunRange(run.run, runRange)).sort((a, b) => a.run - b.run);
  }

  /** How far each prefix of each compute is, by compute and then in the order in which they began to run; others come last. */
  progressIn(runRange: RunRange): PrefixProgress[] {
    return [...this.#progress.entries()]
      .filter(([run]) => inRunRange(run, runRange))
      .sort(([a], [b]) => a - b)
      .flatMap(([run, rows]) => this.#byBegin(run, [...rows.values()]));
  }

  #byBegin(ofRun: number, rows: PrefixProgress[]): PrefixProgress[] {
    const begins = new Map(rows.map(row => [row.prefix, row.firstS ?? (row.running > 0 ? Number.MAX_VALUE : Infinity)]));
    for (const { run, group, startS } of this.running) {
      const prefix = this.groups[group]?.prefix ?? '';
      const known = begins.get(prefix);
      if (run === ofRun && known !== undefined && startS !== null) {
        begins.set(prefix, Math.min(known, startS));
      }
    }
    const at = ({ prefix }: PrefixProgress): number => begins.get(prefix) as number;
    return rows.sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
  }
}
