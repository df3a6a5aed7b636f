/** What a polite live region says: the latest news, but never so often that it talks over everything else. */

const EVERY_MS = 5_000;

export class Announcer {
  /** Without changes the region stays silent. */
  text = '';
  #saidMs = -Infinity;
  #due: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when the text is another */
  constructor(private readonly changed: () => void, private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => { clearTimeout(this.#timer); }, { once: true });
  }

  /** Announce `text` `atOnce` or when it is time; of several texts within that time only the last is announced. */
  say(text: string, atOnce = false): void {
    if (this.signal.aborted || text === (this.#due ?? this.text)) {
      return;
    }
    this.#due = text;
    if (atOnce) {
      clearTimeout(this.#timer);
      this.#sayDue();
    } else if (this.#timer === undefined) {
      const waitMs = this.#saidMs + EVERY_MS - performance.now();
      if (waitMs <= 0) {
        this.#sayDue();
      } else {
        this.#timer = setTimeout(() => { this.#sayDue(); }, waitMs);
      }
    }
  }

  #sayDue(): void {
    this.#timer = undefined;
    this.#saidMs = performance.now();
    this.text = this.#due ?? '';
    this.#due = null;
    this.changed();
  }
}
