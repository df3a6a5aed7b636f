/** Whose turn it is: lanes that had a task, by when it ended, and after them the others by number. */

export class LaneTurns {
  readonly #fresh: number[];
  // Those that are idle stand from `#first` on; what is taken is mostly the first, so that few others move.
  readonly #lanes: Uint16Array;
  readonly #since: Float64Array;
  #first = 0;
  #count = 0;

  constructor(nLanes: number) {
    this.#fresh = Array.from({ length: nLanes }, (_, i) => i);
    this.#lanes = new Uint16Array(2 * nLanes);
    this.#since = new Float64Array(2 * nLanes);
  }

  /** Take out the lane at this place; it must be put back before the next is taken. */
  take(turn: number): number {
    if (turn >= this.#count) {
      return this.#fresh.splice(turn - this.#count, 1)[0] ?? 0;
    }
    const at = this.#first + turn;
    const lane = this.#lanes[at] ?? 0;
    if (turn > 0) {
      this.#lanes.copyWithin(this.#first + 1, this.#first, at);
      this.#since.copyWithin(this.#first + 1, this.#first, at);
    }
    this.#first += 1;
    this.#count -= 1;
    return lane;
  }

  /** Put a lane back whose task ended then; behind others that ended at the same time. */
  put(lane: number, stop: number): void {
    if (this.#first + this.#count === this.#lanes.length) {
      this.#lanes.copyWithin(0, this.#first);
      this.#since.copyWithin(0, this.#first);
      this.#first = 0;
    }
    let at = this.#first + this.#count;
    for (; at > this.#first && (this.#since[at - 1] ?? 0) > stop; at -= 1) {
      this.#lanes[at] = this.#lanes[at - 1] ?? 0;
      this.#since[at] = this.#since[at - 1] ?? 0;
    }
    this.#lanes[at] = lane;
    this.#since[at] = stop;
    this.#count += 1;
  }
}
