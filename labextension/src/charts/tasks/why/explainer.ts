/** Asks the kernel why the computes that are shown took so long: once they have ended, and while somebody looks. */
import { formatDuration } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import type { RunWindow, TaskStore } from '../../../store';
import type { Explained, Explanation, KnownPath } from '../../../wire';

const MAX_WAIT_S = 600;

export interface ExplainerHost {
  readonly store: TaskStore;
  ask(window: RunWindow): Promise<Explained>;
  /** Whether the chart is in sight at all. */
  isSeen(): boolean;
  /** There is something else to say, or to ask. */
  changed(): void;
}

export class Explainer {
  /** Null while nothing is known of what is shown. */
  explanation: Explanation | null = null;
  path: KnownPath;
  #seen = '';
  /** The computes that are shown, if they have ended. */
  #shown: RunWindow | null = null;
  #id = '';
  #isAsked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: ExplainerHost, private readonly signal: AbortSignal) {
    this.path = { reason: trans.__('these computes have not ended') };
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  /** Find out which computes are shown now; true if they are others than before. */
  refresh(window: RunWindow): boolean {
    const isOther = this.#find(window);
    if (this.#shown !== null && !this.#isAsked && this.host.isSeen()) {
      this.#isAsked = true;
      void this.#ask(this.#shown, this.#id);
    }
    return isOther;
  }

  #find(window: RunWindow): boolean {
    const { store } = this.host;
    const seen = `${store.epoch} ${store.version} ${window.firstRun} ${window.lastRun ?? ''}`;
    if (this.#seen === seen) {
      return false;
    }
    this.#seen = seen;
    const runs = store.tables.runsIn(window);
    const [first, last] = [runs[0], runs.at(-1)];
    const isOver = first !== undefined && last !== undefined && runs.every(run => run.status !== 'running');
    const id = isOver ? `${store.epoch} ${first.run} ${last.run} ${runs.length}` : '';
    if (this.#id === id) {
      return false;
    }
    this.#id = id;
    this.#shown = isOver ? { firstRun: first.run, lastRun: last.run } : null;
    this.#isAsked = false;
    this.explanation = null;
    this.path = { reason: isOver ? trans.__('the kernel has not answered yet') : trans.__('these computes have not ended') };
    clearTimeout(this.#timer);
    return true;
  }

  async #ask(window: RunWindow, id: string): Promise<void> {
    const heard = await this.host.ask(window).catch((error: unknown): Explained => ({ kind: 'none', reason: error instanceof Error ? error.message : String(error) }));
    if (this.#id !== id || this.signal.aborted) {
      return;
    }
    if (heard.kind === 'explained') {
      this.explanation = heard.explanation;
      this.path = heard.explanation.path;
    } else {
      this.path = { reason: heard.kind === 'none' ? heard.reason : trans.__('the kernel rests: it is asked again in %1', formatDuration(heard.waitS)) };
    }
    if (heard.kind === 'later') {
      this.#timer = setTimeout(() => {
        this.#isAsked = false;
        this.host.changed();
      }, Math.min(heard.waitS, MAX_WAIT_S) * 1000);
    }
    this.host.changed();
  }
}
