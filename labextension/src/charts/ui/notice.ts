/** A line that says what was done: seen for a while, and read aloud. */
import { element, setText } from './dom';

const SHOWN_MS = 6_000;

export class Notice {
  readonly el = element('div', { class: 'tsk-notice', role: 'status' });
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  say(text: string): void {
    setText(this.el, text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { setText(this.el, ''); }, SHOWN_MS);
  }
}
