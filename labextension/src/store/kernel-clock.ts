/** The kernel's clock as seen from here, so that bars in flight grow between two messages. */

/** A difference this large is a clock that was set or a computer that slept, not a slow message. */
const JUMP_S = 2;

export class KernelClock {
  #offsetS: number | null = null;
  #frozenS = 0;
  #active = false;

  /** @param localS seconds of any steady clock */
  constructor(private readonly localS: () => number) {}

  /** A message said that it is `nowS` there. */
  hear(nowS: number, active: boolean): void {
    const offset = nowS - this.localS();
    const known = this.#offsetS;
    // Messages are only ever late, so the largest difference is the best one.
    if (known === null || offset > known || known - offset > JUMP_S) {
      this.#offsetS = offset;
    }
    this.#frozenS = nowS;
    this.#active = active;
  }

  /** Stand still, because nobody knows whether anything still runs. */
  freeze(): void {
    this.#frozenS = this.nowS();
    this.#active = false;
  }

  get active(): boolean {
    return this.#active;
  }

  /** Seconds on the recorder's axis. */
  nowS(): number {
    if (!this.#active || this.#offsetS === null) {
      return this.#frozenS;
    }
    return Math.max(this.#frozenS, this.localS() + this.#offsetS);
  }
}
