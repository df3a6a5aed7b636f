/** Asks the kernel why the computes that are shown took so long: once they have ended and somebody looks, and again when it says so. */
import { messageOf } from '../../../lib/error-message';
import { formatDuration } from '../../../lib/format';
import { Seen } from '../../../lib/seen';
import { trans } from '../../../lib/translate';
import type { RunRange, TaskStore } from '../../../store';
import type { Explained, Explanation, KnownPath } from '../../../wire';

/** Whatever the kernel says, it is asked again after this long. */
export const MAX_WAIT_S = 600;

export const refused = (error: unknown): Explained => ({ kind: 'none', reason: messageOf(error) });

export interface ExplainerHost {
  readonly store: TaskStore;
  ask(runRange: RunRange): Promise<Explained>;
  /** Whether the chart is in sight at all. */
  isSeen(): boolean;
  /** There is something else to say, or to ask. */
  changed(): void;
}

export class Explainer {
  /** Null while nothing is known of what is shown. */
  explanation: Explanation | null = null;
  path: KnownPath;
  readonly #seen = new Seen();
  readonly #found = new Seen();
  /** The computes that are shown, if they have ended. */
  #shown: RunRange | null = null;
  #isAsked = false;
  /** Whether an answer is to come. */
  isAsking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: ExplainerHost, private readonly signal: AbortSignal) {
    this.path = { reason: trans.__('these computes have not ended') };
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  /** Find out which computes are shown now; true if they are others than before. */
  refresh(runRange: RunRange): boolean {
    const isOther = this.#find(runRange);
    if (this.#shown !== null && !this.#isAsked && this.host.isSeen()) {
      this.#isAsked = this.isAsking = true;
      this.host.changed();
      void this.#ask(this.#shown);
    }
    return isOther;
  }

  #find(runRange: RunRange): boolean {
    const { store } = this.host;
    if (!this.#seen.isNew(store.epoch, store.version, runRange.firstRun, runRange.lastRun)) {
      return false;
    }
    const runs = store.tables.runsIn(runRange);
    const [first, last] = [runs[0], runs.at(-1)];
    const isOver = first !== undefined && last !== undefined && runs.every(run => run.status !== 'running');
    if (!this.#found.isNew(...(isOver ? [store.epoch, first.run, last.run, runs.length] : []))) {
      return false;
    }
    this.#shown = isOver ? { firstRun: first.run, lastRun: last.run } : null;
    this.#isAsked = this.isAsking = false;
    this.explanation = null;
    this.path = { reason: isOver ? trans.__('the kernel has not answered yet') : trans.__('these computes have not ended') };
    clearTimeout(this.#timer);
    return true;
  }

  async #ask(runRange: RunRange): Promise<void> {
    const heard = await this.host.ask(runRange).catch(refused);
    if (this.#shown !== runRange || this.signal.aborted) {
      return;
    }
    this.isAsking = false;
    if (heard.kind === 'explained') {
      this.explanation = heard.explanation;
      this.path = heard.explanation.path;
    } else {
      this.path = { reason: heard.kind === 'none' ? heard.reason : trans.__('no answer yet: the kernel is asked again in %1', formatDuration(heard.waitS)) };
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
