/** The button that interrupts the compute, there while one runs, and a line for why that did not work. */
import { printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import { element, setText } from '../ui/dom';

/** A compute that has not ended by then may be asked again. */
const PATIENCE_MS = 5_000;

export interface StopOptions {
  readonly signal: AbortSignal;
  readonly translate: Translate;
  /** Resolves to why there is nothing to stop, or null; null instead of it: nothing can be stopped. */
  readonly stop: (() => Promise<string | null>) | null;
}

export class StopButton {
  readonly el = element('button', { class: 'tsk-button tsk-progress-stop', type: 'button' });
  readonly note = element('div', { class: 'tsk-progress-note', role: 'status' });
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StopOptions) {
    const { signal, translate } = options;
    this.el.title = translate('Interrupt the compute');
    this.el.addEventListener('click', () => void this.#ask(), { signal });
    signal.addEventListener('abort', () => { clearTimeout(this.#again); }, { once: true });
    this.note.hidden = true;
    this.show(false);
  }

  /** @param alive whether there is something to stop */
  show(alive: boolean): void {
    this.el.hidden = this.options.stop === null || !alive;
    if (!alive) {
      this.#ready();
    }
  }

  async #ask(): Promise<void> {
    const { stop, translate, signal } = this.options;
    if (stop === null || this.el.disabled) {
      return;
    }
    this.el.disabled = true;
    setText(this.el, translate('Stopping…'));
    this.#say('');
    clearTimeout(this.#again);
    this.#again = setTimeout(() => { this.#ready(); }, PATIENCE_MS);
    const refusal = await stop().catch((error: unknown) => String(error));
    if (refusal !== null && !signal.aborted) {
      this.#ready();
      this.#say(translate('Not stopped: %1', printable(refusal)));
    }
  }

  #ready(): void {
    clearTimeout(this.#again);
    this.el.disabled = false;
    setText(this.el, this.options.translate('Stop'));
  }

  #say(text: string): void {
    this.note.hidden = text === '';
    setText(this.note, text);
  }
}
