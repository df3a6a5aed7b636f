/** Tasks of a page that was saved, as `taskscope/wire/turns.py` tells them: by whose turn it was, and how long it had been idle. */
import { WireError } from './check';
import type { Columns, Section } from './codec';

/** The same as a page that is told while computes run has them. */
export function tasksOfTurns({ first, n, columns }: Section<'turns'>, nLanes: number, tickS: number): Section<'tasks'> {
  const { turn, gapS, cpuShare, ...others } = columns;
  const lanes = new LaneTurns(nLanes);
  const lane = new Int32Array(n);
  const stopS = new Float64Array(n);
  const cpuS = new Float64Array(n);
  for (let i = 0; i < n; i += 1) {
    const duration = others.durationS[i] as number;
    const own = lanes.take(turn[i] as number);
    // In ticks, so that lanes that became idle at the same time are known to have.
    const stop = own.stop + Math.round((gapS[i] as number) / tickS) + Math.round(duration / tickS);
    lanes.put(own.lane, stop);
    lane[i] = own.lane;
    stopS[i] = stop * tickS;
    cpuS[i] = ((cpuShare[i] as number) / 254) * duration;
  }
  return { first, n, columns: { ...others, lane, stopS, cpuS } satisfies Columns<'tasks'> };
}

/** Whose turn it is: lanes that had a task, by when it ended, and after them the others by number. */
class LaneTurns {
  readonly #fresh: number[];
  // Those that are idle stand from `#first` on; what is taken is mostly the first, so that few others move.
  readonly #lanes: Int32Array;
  readonly #stops: Float64Array;
  #first = 0;
  #count = 0;

  constructor(nLanes: number) {
    this.#fresh = Array.from({ length: nLanes }, (_, i) => i);
    this.#lanes = new Int32Array(2 * nLanes);
    this.#stops = new Float64Array(2 * nLanes);
  }

  /** Take out the lane at this place, and when it ended; it must be put back before the next is taken. */
  take(turn: number): { lane: number; stop: number } {
    if (turn >= this.#count) {
      const [lane] = this.#fresh.splice(turn - this.#count, 1);
      return { lane: lane ?? refuse(turn), stop: 0 };
    }
    const at = this.#first + (turn >= 0 ? turn : refuse(turn));
    const [lane, stop] = [this.#lanes[at] as number, this.#stops[at] as number];
    this.#lanes.copyWithin(this.#first + 1, this.#first, at);
    this.#stops.copyWithin(this.#first + 1, this.#first, at);
    this.#first += 1;
    this.#count -= 1;
    return { lane, stop };
  }

  /** Put a lane back whose task ended then; behind others that ended at the same time. */
  put(lane: number, stop: number): void {
    if (this.#first + this.#count === this.#lanes.length) {
      this.#lanes.copyWithin(0, this.#first);
      this.#stops.copyWithin(0, this.#first);
      this.#first = 0;
    }
    let at = this.#first + this.#count;
    for (; at > this.#first && (this.#stops[at - 1] as number) > stop; at -= 1) {
      this.#lanes[at] = this.#lanes[at - 1] as number;
      this.#stops[at] = this.#stops[at - 1] as number;
    }
    this.#lanes[at] = lane;
    this.#stops[at] = stop;
    this.#count += 1;
  }
}

function refuse(turn: number): never {
  throw new WireError('turns.turn', 'one of the lanes', turn);
}
