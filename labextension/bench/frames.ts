/** How long the page's own painting takes, frame by frame. */

const ANSWER_MS = 5_000;
/** Nothing painted in so many frames: the picture is done. */
const STILL_FRAMES = 3;

export class FrameTimes {
  readonly #times: number[] = [];
  readonly #request = window.requestAnimationFrame.bind(window);
  #painted: () => void = () => undefined;

  /** Time every callback of `requestAnimationFrame` from now on. */
  constructor() {
    window.requestAnimationFrame = callback =>
      this.#request(time => {
        const beganMs = performance.now();
        callback(time);
        this.#times.push(performance.now() - beganMs);
        this.#painted();
      });
  }

  /** Do something that must be painted; the milliseconds its frame took. */
  async after(action: () => void): Promise<number> {
    const painted = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => { reject(new Error('nothing was painted')); }, ANSWER_MS);
      this.#painted = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    action();
    await painted;
    this.#painted = () => undefined;
    return this.#times.at(-1) ?? NaN;
  }

  /** Do something, and wait until nothing is painted any more: its longest frame, and what all of them took together. */
  async allAfter(action: () => void): Promise<{ longest: number; sum: number }> {
    const first = this.#times.length;
    await this.after(action);
    for (let still = 0, seen = this.#times.length; still < STILL_FRAMES; still += 1) {
      await new Promise(this.#request);
      if (this.#times.length > seen) {
        seen = this.#times.length;
        still = 0;
      }
    }
    const times = this.#times.slice(first);
    return { longest: Math.max(...times), sum: times.reduce((a, b) => a + b, 0) };
  }

  /** Frames that were painted in a while, and the gaps between animation frames, in milliseconds. */
  async during(ms: number): Promise<{ paints: number[]; gaps: number[] }> {
    const first = this.#times.length;
    const gaps: number[] = [];
    const endMs = performance.now() + ms;
    await new Promise<void>(resolve => {
      let lastMs = performance.now();
      const look = (): void => {
        const nowMs = performance.now();
        gaps.push(nowMs - lastMs);
        lastMs = nowMs;
        if (nowMs < endMs) {
          this.#request(look);
        } else {
          resolve();
        }
      };
      this.#request(look);
    });
    return { paints: this.#times.slice(first), gaps };
  }
}
