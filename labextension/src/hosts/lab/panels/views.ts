/** How a panel's chart was looked at, per recorder, so that it is found as it was left. */
import { TimeAxis } from '../../../charts/timeline/time/time-axis';
import type { ChartView } from './memory';

const SETTLE_MS = 300;

export class Views {
  /** @param changed is called some time after a gesture */
  constructor(
    saved: ReadonlyMap<string, ChartView>,
    private readonly _changed: () => void
  ) {
    this._hidden = new Map([...saved].map(([recorder, { hidden }]) => [recorder, hidden]));
    this._axes = new Map(
      [...saved].map(([recorder, { view }]) => {
        const axis = new TimeAxis(true);
        axis.show(view);
        return [recorder, axis];
      })
    );
  }

  /** What to keep of it. */
  get all(): ReadonlyMap<string, ChartView> {
    return new Map(
      [...this._axes].map(([recorder, axis]) => [recorder, { view: axis.view, hidden: this.hidden(recorder) }])
    );
  }

  /** The time axis of a recorder; changes of its view are noted until `signal` aborts. */
  axis(recorder: string, signal: AbortSignal): TimeAxis {
    const axis = this._axes.get(recorder) ?? new TimeAxis(true);
    // The one that was looked at last is forgotten last.
    this._axes.delete(recorder);
    this._axes.set(recorder, axis);
    let { view } = axis;
    axis.subscribe(() => {
      if (axis.view !== view) {
        ({ view } = axis);
        this._soon();
      }
    }, signal);
    return axis;
  }

  hidden(recorder: string): readonly string[] {
    return this._hidden.get(recorder) ?? [];
  }

  setHidden(recorder: string, prefixes: readonly string[]): void {
    this._hidden.set(recorder, prefixes);
    this._soon();
  }

  dispose(): void {
    clearTimeout(this._timer);
  }

  private _soon(): void {
    clearTimeout(this._timer);
    this._timer = setTimeout(this._changed, SETTLE_MS);
  }

  private readonly _axes: Map<string, TimeAxis>;
  private readonly _hidden: Map<string, readonly string[]>;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
