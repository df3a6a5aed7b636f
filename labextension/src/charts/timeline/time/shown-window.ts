/** The computes that a chart shows: those of its window, without those that were cleared away, or one of them alone. */
import type { RunWindow, TaskStore } from '../../../store';
import type { TimeAxis } from './time-axis';

export class ShownWindow implements RunWindow {
  constructor(
    /** With what was cleared away; colours are given by these. */
    readonly whole: RunWindow,
    private readonly axis: TimeAxis
  ) {}

  /** All from which one can be selected. */
  get all(): RunWindow {
    return { firstRun: Math.max(this.whole.firstRun, this.axis.sinceRun ?? 0), lastRun: this.whole.lastRun };
  }

  get firstRun(): number {
    return this.axis.chosenRun ?? this.all.firstRun;
  }

  get lastRun(): number | null {
    return this.axis.chosenRun ?? this.whole.lastRun;
  }

  /** Changes with the computes that are shown. */
  get id(): string {
    return `${this.firstRun} to ${this.lastRun ?? ''}`;
  }

  /** Clear away the computes that are over, or show them again. */
  toggleClear({ tables }: TaskStore): void {
    const runs = tables.runsIn(this.whole);
    const open = runs.filter(run => run.status === 'running').map(run => run.run);
    const next = Math.min(...open, (runs.at(-1)?.run ?? this.whole.firstRun - 1) + 1);
    this.axis.clear(this.axis.sinceRun === null ? next : null);
  }
}
