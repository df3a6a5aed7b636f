/** The field to find tasks by key or prefix: next, previous, and how many there are. */
import { formatCount } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { RunLimits, Selected, TaskRef, TaskStore } from '../../store';
import { LaneTasks } from '../../store';
import type { RunningTask } from '../../wire';
import { inSlices } from '../ui/frame-loop';
import type { ComponentChildren } from '../ui/render';
import { Button } from '../ui/toolbar';
import type { FoundOpen } from './find-task';
import type { Matches, PrefixFilter } from './scene';
import { isShown } from './scene';

export interface FindHost {
  search(query: Query): TaskSearch;
  /** Those of the tasks in flight that match, by their starts. */
  inFlight(search: TaskSearch): readonly FoundOpen[];
  selected(): Selected | null;
  /** Select a match and bring it into sight. */
  goTo(match: TaskRef | FoundOpen): void;
  /** There is something else to say, and to paint. */
  changed(): void;
  closed(): void;
}

export class FindBar {
  isOpen = false;
  /** What was found, once all tasks have been looked at; null: nothing is looked for. */
  matches: Matches | null = null;
  #text = '';
  #input: HTMLInputElement | null = null;
  #search: TaskSearch | null = null;
  #isComplete = true;
  #stop: () => void = () => undefined;

  constructor(
    private readonly host: FindHost,
    signal: AbortSignal
  ) {
    signal.addEventListener('abort', () => { this.#stop(); }, { once: true });
  }

  open(): void {
    this.isOpen = true;
    this.#begin();
    this.#input?.focus();
    this.#input?.select();
  }

  close(): void {
    this.isOpen = false;
    this.#stop();
    this.matches = this.#search = null;
    this.host.changed();
    this.host.closed();
  }

  /** Go to the next or the previous match: tasks in flight come after all that have ended, and after the last the first. */
  go(direction: 1 | -1): void {
    const search = this.#search;
    const match = search === null ? null : this.#next(search, direction);
    if (match !== null) {
      this.host.goTo(match);
    }
    this.host.changed();
  }

  #next(search: TaskSearch, direction: 1 | -1): TaskRef | FoundOpen | null {
    const [open, from] = [this.host.inFlight(search), this.host.selected()?.ref ?? null];
    const at = this.#placeOf(open);
    const beside = at >= 0 ? open[at + direction] : from && search.nearest(from, direction);
    const ends = [search.nearest(null, direction), open.at(direction === 1 ? 0 : -1)];
    const [one, other] = at < 0 && (from !== null || direction === -1) ? ends.reverse() : ends;
    return beside ?? one ?? other ?? null;
  }

  /** Which of these tasks in flight is selected; -1: none is. */
  #placeOf(open: readonly FoundOpen[]): number {
    const selected = this.host.selected();
    return selected?.ref === null ? open.findIndex(({ bar }) => bar.task.keyText === selected.key) : -1;
  }

  /** There may be more tasks now, or fewer to see. */
  refresh(kind: 'more' | 'others'): void {
    if (this.#search !== null) {
      if (kind === 'others') {
        this.#begin();
      } else if (this.#isComplete) {
        this.#continue();
      }
    }
  }

  /** How many there are, and which of them is selected. */
  said(): string {
    const search = this.#search;
    if (search === null) {
      return '';
    }
    const open = this.host.inFlight(search);
    const n = search.count + open.length;
    const count = `${formatCount(n)}${this.#isComplete ? '' : '…'}`;
    const [ref, at] = [this.host.selected()?.ref ?? null, this.#placeOf(open)];
    const place = !this.#isComplete ? 0 : at >= 0 ? search.count + at + 1 : ref === null ? 0 : search.ordinal(ref);
    const none = this.#isComplete ? trans.__('no match') : trans.__('searching…');
    const some = place === 0 ? trans._n('%2 match', '%2 matches', n, count) : trans.__('%1 of %2 matches', formatCount(place), count);
    return n === 0 ? none : some;
  }

  render(): ComponentChildren {
    return (
      <div class="tsk-bar tsk-gantt-find" role="search" hidden={!this.isOpen} onKeyDown={event => { this.#onKey(event); }}>
        <input
          type="search" placeholder={trans.__('Key or task type')} aria-label={trans.__('Find tasks by key or task type')} spellcheck={false}
          ref={el => { this.#input = el ?? this.#input; }}
          onInput={({ currentTarget }) => {
            this.#text = currentTarget.value;
            this.#begin();
          }}
        />
        <Button text="↑" label={trans.__('Previous match (Shift+Enter)')} act={() => { this.go(-1); }} />
        <Button text="↓" label={trans.__('Next match (Enter)')} act={() => { this.go(1); }} />
        <Button text="×" label={trans.__('Close (Escape)')} act={() => { this.close(); }} />
        <span role="status">{this.said()}</span>
      </div>
    );
  }

  #begin(): void {
    this.#stop();
    const text = this.#text.trim();
    this.#search = text === '' ? null : this.host.search(textQuery(text));
    if (this.#search === null) {
      this.matches = null;
    }
    this.#continue();
    this.host.changed();
  }

  #continue(): void {
    const search = this.#search;
    if (search === null) {
      return;
    }
    this.#isComplete = false;
    this.#stop = inSlices(isOver => search.step(isOver), done => {
      this.#isComplete = done;
      // Until all tasks have been looked at, the picture stays: what was not looked at yet would step back as if it did not match.
      this.matches = done ? search : this.matches;
      this.host.changed();
    });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.close();
    } else if (event.key === 'Enter' && event.target === this.#input) {
      this.go(event.shiftKey ? -1 : 1);
    } else {
      return;
    }
    event.preventDefault();
  }
}

/** Tasks between two looks at the clock. */
const CHUNK = 256;

interface LaneHits {
  readonly lane: number;
  /** Tasks looked at, from the first one on. */
  scanned: number;
  /** The row of the last of them: another one there means that the lane was sorted anew. */
  lastRow: number;
  /** The matches, as a lane of their own: what measures and draws tasks does so with these. */
  found: LaneTasks;
}

export class TaskSearch implements Matches {
  readonly #lanes: LaneHits[] = [];
  readonly #byLane = new Map<number, LaneHits>();
  readonly #verdicts: (GroupVerdict | undefined)[] = [];

  constructor(
    private readonly store: TaskStore,
    private readonly query: Query,
    private readonly runs: RunLimits,
    private readonly filter: PrefixFilter
  ) {}

  /** Matches so far. */
  get count(): number {
    return this.#lanes.reduce((sum, hits) => sum + hits.found.n, 0);
  }

  /** The matches of a lane so far. */
  lane(id: number): LaneTasks | undefined {
    return this.#byLane.get(id)?.found;
  }

  /** Whether a task in flight matches. */
  hasOpen({ group, keyText: key }: RunningTask): boolean {
    switch (this.#verdict(group)) {
      case 'all':
        return true;
      case 'none':
        return false;
      case 'text':
        return !key.startsWith('(') && this.query.ofKey(key);
      case 'key':
        return this.query.ofKey(key);
    }
  }

  /** Look at more tasks until `isOver` says that the time is; true once all have been looked at. */
  step(isOver: () => boolean): boolean {
    this.#refreshLanes();
    for (const hits of this.#lanes) {
      const lane = this.store.lane(hits.lane);
      while (lane !== undefined && hits.scanned < lane.n) {
        this.#scan(lane, hits, Math.min(hits.scanned + CHUNK, lane.n));
        if (isOver()) {
          return false;
        }
      }
    }
    return true;
  }

  /** How many matches there are up to a task, itself included; 0 if it is no match. */
  ordinal(task: TaskRef): number {
    let n = 0;
    let isMatch = false;
    for (const { lane, found } of this.#lanes) {
      let k = found.firstStarting(task.startS);
      for (; k < found.n && compare(refAt(lane, found, k), task) <= 0; k += 1) {
        isMatch ||= lane === task.lane && found.row[k] === task.row;
      }
      n += k;
    }
    return isMatch ? n : 0;
  }

  /** The match that has ended and comes next in time after a task, or before it; of null the first, or the last; null: there is none. */
  nearest(from: TaskRef | null, direction: 1 | -1): TaskRef | null {
    let best: TaskRef | null = null;
    for (const { lane, found } of this.#lanes) {
      const ref = nearestIn(lane, found, from, direction);
      if (ref !== null && (best === null || compare(ref, best) * direction < 0)) {
        best = ref;
      }
    }
    return best;
  }

  #scan(lane: LaneTasks, hits: LaneHits, to: number): void {
    for (let i = hits.scanned; i < to; i += 1) {
      if (this.#matches(lane, i)) {
        hits.found.copy(lane, i);
      }
    }
    hits.found.settle();
    hits.scanned = to;
    hits.lastRow = lane.row[to - 1] ?? -1;
  }

  #matches(lane: LaneTasks, i: number): boolean {
    const group = lane.group[i] as number;
    const verdict = this.#verdict(group);
    if (verdict === 'none' || !isShown(lane, i, this.runs, this.filter)) {
      return false;
    }
    const row = lane.row[i] as number;
    return verdict === 'all' || (verdict === 'text' ? this.#textMatches(row) : this.query.ofKey(this.store.keyText(row, group)));
  }

  #textMatches(row: number): boolean {
    const key = this.store.textKey(row);
    return key !== null && this.query.ofKey(key);
  }

  #verdict(group: number): GroupVerdict {
    const { name, prefix } = this.store.tables.groups[group] ?? { name: '?', prefix: '?' };
    return (this.#verdicts[group] ??= this.query.ofGroup(name, prefix));
  }

  /** Lanes that are new, and those whose order changed under what was found. */
  #refreshLanes(): void {
    for (const id of this.store.laneIds) {
      const lane = this.store.lane(id);
      const hits = this.#byLane.get(id);
      if (hits === undefined) {
        const made = { lane: id, scanned: 0, lastRow: -1, found: new LaneTasks() };
        this.#byLane.set(id, made);
        this.#lanes.push(made);
      } else if (lane === undefined || hits.scanned > lane.n || (hits.scanned > 0 && lane.row[hits.scanned - 1] !== hits.lastRow)) {
        Object.assign(hits, { scanned: 0, lastRow: -1, found: new LaneTasks() });
      }
    }
  }
}

function refAt(lane: number, { row, startS }: LaneTasks, k: number): TaskRef {
  return { lane, row: row[k] ?? 0, startS: startS[k] ?? 0 };
}

function nearestIn(lane: number, found: LaneTasks, from: TaskRef | null, direction: 1 | -1): TaskRef | null {
  let k = direction === 1 ? 0 : found.n - 1;
  if (from !== null) {
    k = found.firstStarting(from.startS);
    while (k < found.n && compare(refAt(lane, found, k), from) < (direction === 1 ? 1 : 0)) {
      k += 1;
    }
    k -= direction === 1 ? 0 : 1;
  }
  return k >= 0 && k < found.n ? refAt(lane, found, k) : null;
}

/** By time; tasks that start together by lane, then by row. */
function compare(a: TaskRef, b: TaskRef): number {
  return a.startS - b.startS || a.lane - b.lane || a.row - b.row;
}

/** How a group answers: all its tasks match, none does, or each key has to be looked at. */
export type GroupVerdict = 'all' | 'none' | 'text' | 'key';

export interface Query {
  ofGroup(name: string, prefix: string): GroupVerdict;
  /** For groups that answered `text` (only keys that are text are asked) or `key`. */
  ofKey(key: string): boolean;
}

const TUPLE = /^\(?\s*['"]?([^'",]+)['"]?\s*,\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*,?\s*\)?$/;

/**
 * Tasks whose key, group or prefix contains `text`, whatever its case; `name, 3, 4` or a whole tuple key
 * finds keys that begin so.
 */
export function textQuery(text: string): Query {
  const wanted = text.trim().toLowerCase();
  const tuple = TUPLE.exec(wanted);
  if (tuple !== null) {
    const name = tuple[1]?.trim() ?? '';
    const ints = (tuple[2] ?? '').split(',').map(Number).join(', ');
    const begins = new RegExp(`^\\([^,]*, ${ints}(?![0-9])`);
    return {
      ofGroup: (group, prefix) => (group.toLowerCase().startsWith(name) || prefix.toLowerCase() === name ? 'key' : 'text'),
      ofKey: key => begins.test(key) || key.toLowerCase().includes(wanted)
    };
  }
  const name = wanted.replace(/^\(?['"]?/, '').replace(/['"]$/, '');
  const isIn = (where: string): boolean => name !== '' && where.toLowerCase().includes(name);
  return {
    ofGroup: (group, prefix) => (isIn(group) || isIn(prefix) ? 'all' : 'text'),
    ofKey: key => key.toLowerCase().includes(wanted)
  };
}

export function exactQuery(key: string): Query {
  return {
    ofGroup: group => (key.startsWith(`('${group}'`) || key.startsWith(`("${group}"`) || /['"\\]/.test(group) ? 'key' : 'text'),
    ofKey: other => other === key
  };
}
