/**
 * The time axis that charts of the same computes share: what part of time they show, where the cursor is,
 * and where their plots begin. A chart that is given none makes one of its own.
 */
import type { Span } from '../../../lib/span';
import type { View } from './time-frame';

type Listener = () => void;

export class TimeAxis {
  #view: View;
  #cursorS: number | null = null;
  #pausedAtS: number | null = null;
  #sinceRun: number | null = null;
  #chosen: number | 'all' | null = null;
  #range: Span | null = null;
  readonly #gutters = new Map<object, number>();
  readonly #listeners = new Set<Listener>();

  constructor(follow: boolean) {
    this.#view = follow ? { kind: 'follow', widthS: null } : { kind: 'fit' };
  }

  get view(): View {
    return this.#view;
  }

  /** The time under the pointer, in seconds after the recorder's zero; null: none. */
  get cursorS(): number | null {
    return this.#cursorS;
  }

  /** Where time is paused for looking at it, in seconds after the recorder's zero; null: it goes on. */
  get pausedAtS(): number | null {
    return this.#pausedAtS;
  }

  /** The first compute that is shown since those before it were cleared away; null: nothing was. */
  get sinceRun(): number | null {
    return this.#sinceRun;
  }

  /** The only compute that is shown, or all of a session, since a person selected that; null: nothing was. */
  get chosen(): number | 'all' | null {
    return this.#chosen;
  }

  /** The time that a person asks about, while it is selected; null: none is. */
  get range(): Span | null {
    return this.#range;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  show(view: View): void {
    this.#view = view;
    this.#changed();
  }

  pauseAt(pausedAtS: number | null): void {
    this.#pausedAtS = pausedAtS;
    this.#changed();
  }

  clear(sinceRun: number | null): void {
    this.#sinceRun = sinceRun;
    this.#chosen = this.#range = null;
    this.#changed();
  }

  /** Show one compute alone, or all together, as a whole; null: no longer. */
  choose(chosen: number | 'all' | null): void {
    this.#chosen = chosen;
    this.#range = null;
    this.#view = this.#view.kind === 'free' ? { kind: 'fit' } : this.#view;
    this.#changed();
  }

  select(range: Span | null): void {
    this.#range = range;
    this.#changed();
  }

  point(cursorS: number | null): void {
    if (cursorS !== this.#cursorS) {
      this.#cursorS = cursorS;
      this.#changed();
    }
  }

  /** Ask for `gutterPx` left of the plot; returns what the chart that needs most has asked for. */
  reserve(chart: object, gutterPx: number): number {
    const before = this.#widest();
    this.#gutters.set(chart, gutterPx);
    const after = this.#widest();
    if (after !== before && this.#gutters.size > 1) {
      this.#changed();
    }
    return after;
  }

  /** Tell `listener` of every change until `signal` aborts; it must not change anything itself. */
  subscribe(listener: Listener, signal: AbortSignal): void {
    if (signal.aborted) {
      return;
    }
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  #widest(): number {
    return Math.max(0, ...this.#gutters.values());
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) {
      listener();
    }
  }
}
