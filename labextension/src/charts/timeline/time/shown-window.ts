/**
 * The computes that a chart shows: all of its window, without those that were cleared away; or, of a session, what
 * runs now, else what ended last; or the one that a person selected.
 */
import type { Span } from '../../../lib/span';
import type { RunWindow, TaskStore } from '../../../store';
import type { Run } from '../../../wire';
import type { TimeAxis } from './time-axis';
import type { View } from './time-frame';
import { asOf } from './time-frame';

/** `now`: what runs, else what ended last; `all`: all computes together. */
export type Shows = 'now' | 'all';

type RunTimes = Pick<Run, 'run' | 'startS' | 'stopS' | 'status' | 'scheduler'>;

/** The computes that run, else the one that ended last. */
export function headline<T extends RunTimes>(runs: readonly T[]): readonly T[] {
  const running = runs.filter(run => run.status === 'running');
  const endS = ({ stopS, startS }: RunTimes): number => stopS ?? startS ?? -Infinity;
  const last = runs.reduce<T | null>((latest, run) => (latest === null || endS(run) >= endS(latest) ? run : latest), null);
  return running.length > 0 || last === null ? running : [last];
}

export class ShownWindow implements RunWindow {
  firstRun: number;
  lastRun: number | null;
  #seen: readonly unknown[] = [];

  constructor(
    private readonly store: TaskStore,
    /** With what was cleared away. */
    public whole: RunWindow,
    private readonly axis: TimeAxis,
    private readonly shows: Shows
  ) {
    ({ firstRun: this.firstRun, lastRun: this.lastRun } = whole);
    this.refresh(axis.view);
  }

  /** All from which one can be selected. */
  get all(): RunWindow {
    return { firstRun: Math.max(this.whole.firstRun, this.axis.sinceRun ?? 0), lastRun: this.whole.lastRun };
  }

  /** Whether it follows what runs now. */
  get isOfNow(): boolean {
    return this.shows === 'now' && this.axis.chosen === null;
  }

  /** Whether a person may have all computes shown instead, or did. */
  get mayShowAll(): boolean {
    return this.shows === 'now';
  }

  /** Changes with the computes that are shown. */
  get id(): string {
    return `${this.firstRun} to ${this.lastRun ?? ''}`;
  }

  /** Find out which computes a view of time shows. */
  refresh(view: View): void {
    const { axis, store } = this;
    const seen = [store.version, store.epoch, this.whole, axis.chosen, axis.sinceRun, axis.pausedAtS, view];
    if (seen.some((value, i) => value !== this.#seen[i])) {
      this.#seen = seen;
      ({ firstRun: this.firstRun, lastRun: this.lastRun } = this.#find(view));
    }
  }

  /** Clear away the computes that are over, or show them again. */
  toggleClear(): void {
    const runs = this.store.tables.runsIn(this.whole);
    const open = runs.filter(run => run.status === 'running').map(run => run.run);
    const next = Math.min(...open, (runs.at(-1)?.run ?? this.whole.firstRun - 1) + 1);
    this.axis.clear(this.axis.sinceRun === null ? next : null);
  }

  #find(view: View): RunWindow {
    const { axis: { chosen, pausedAtS }, all } = this;
    if (typeof chosen === 'number') {
      return { firstRun: chosen, lastRun: chosen };
    }
    if (!this.isOfNow) {
      return all;
    }
    const runs = this.store.tables.runsIn(all).flatMap(run => asOf(run, pausedAtS));
    const now = headline(runs);
    const span = chosenSpan(view, now, pausedAtS ?? this.store.clock.nowS());
    const inSight = span === null ? [] : runs.filter(run => (run.startS ?? Infinity) < span.stopS && (run.stopS ?? Infinity) > span.startS);
    const numbers = (inSight.length > 0 ? inSight : now).map(({ run }) => run);
    return numbers.length === 0 ? all : { firstRun: Math.min(...numbers), lastRun: Math.max(...numbers) };
  }
}

/** The time that a person chose to see, in which all that ran is shown, whatever begins after it; null: none was. */
function chosenSpan(view: View, now: readonly Run[], nowS: number): Span | null {
  switch (view.kind) {
    case 'fit':
      return null;
    case 'free':
      return view.span;
    case 'follow': {
      const stopS = Math.max(...now.map(run => run.stopS ?? nowS));
      return view.widthS === null ? null : { startS: stopS - view.widthS, stopS };
    }
  }
}
