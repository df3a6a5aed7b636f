/** Words that stand over a chart for a moment. */

const SHOWN_MS = 1600;

export class Hint {
  isShown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly changed: () => void) {}

  show(): void {
    this.#set(true);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { this.hide(); }, SHOWN_MS);
  }

  hide(): void {
    this.#set(false);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #set(isShown: boolean): void {
    this.isShown = isShown;
    this.changed();
  }
}
