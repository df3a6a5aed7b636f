/** Interrupts the compute when a person asks for it, and knows why that did not work. */
import { printable } from '../../lib/format';
import type { TranslationBundle } from '../../lib/translate';

/** A compute that has not ended by then may be asked again. */
const PATIENCE_MS = 5_000;

export interface StopperOptions {
  readonly signal: AbortSignal;
  readonly trans: TranslationBundle;
  /** Resolves to why there is nothing to stop, or null; null instead of it: nothing can be stopped. */
  readonly stop: (() => Promise<string | null>) | null;
  /** Is called when there is another thing to show. */
  readonly changed: () => void;
}

export class Stopper {
  isAsked = false;
  /** Why it did not stop; empty: nothing is said. */
  note = '';
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StopperOptions) {
    options.signal.addEventListener('abort', () => { clearTimeout(this.#again); }, { once: true });
  }

  get canStop(): boolean {
    return this.options.stop !== null;
  }

  async ask(): Promise<void> {
    const { stop, trans, signal } = this.options;
    if (stop === null || this.isAsked) {
      return;
    }
    this.#again = setTimeout(() => { this.ready(); }, PATIENCE_MS);
    this.#show(true, '');
    const refusal = await stop().catch((error: unknown) => String(error));
    if (refusal !== null && !signal.aborted) {
      clearTimeout(this.#again);
      this.#show(false, trans.__('Not stopped: %1', printable(refusal)));
    }
  }

  /** It may be asked again, or there is nothing to stop any more. */
  ready(): void {
    clearTimeout(this.#again);
    if (this.isAsked) {
      this.#show(false, this.note);
    }
  }

  #show(isAsked: boolean, note: string): void {
    this.isAsked = isAsked;
    this.note = note;
    this.options.changed();
  }
}
