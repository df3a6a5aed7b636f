/** A polite live region: says the latest news, but never so often that it talks over everything else. */

const EVERY_MS = 5_000;

export class Announcer {
  #saidMs = -Infinity;
  #due: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param region the element whose text is read out; without changes it stays silent */
  constructor(
    private readonly region: HTMLElement,
    private readonly signal: AbortSignal
  ) {
    region.setAttribute('role', 'status');
    region.setAttribute('aria-live', 'polite');
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(this.#timer);
      },
      { once: true }
    );
  }

  /** Say `text`, now or when it is time; of several within that time only the last is said. */
  say(text: string): void {
    if (this.signal.aborted || text === (this.#due ?? this.region.textContent)) {
      return;
    }
    this.#due = text;
    if (this.#timer === undefined) {
      const waitMs = this.#saidMs + EVERY_MS - performance.now();
      if (waitMs <= 0) {
        this.#sayDue();
      } else {
        this.#timer = setTimeout(() => {
          this.#sayDue();
        }, waitMs);
      }
    }
  }

  #sayDue(): void {
    this.#timer = undefined;
    this.#saidMs = performance.now();
    this.region.textContent = this.#due ?? '';
    this.#due = null;
  }
}
