/** Sums over what went from one worker to another, by the addresses of both. */

export interface Pair {
  readonly from: string;
  readonly to: string;
  n: number;
  /** Those that count in no sum: transfers of unknown size, tasks that stayed or went elsewhere. */
  nOther: number;
  nbytes: number;
  seconds: number;
  firstS: number;
  lastS: number;
}

export class Pairs {
  readonly #pairs = new Map<string, Map<string, Pair>>();

  get all(): Pair[] {
    return [...this.#pairs.values()].flatMap(pairs => [...pairs.values()]);
  }

  add(from: string, to: string, { n, nOther, nbytes, seconds, firstS, lastS }: Omit<Pair, 'from' | 'to'>): void {
    const pairs = this.#pairs.get(from) ?? new Map<string, Pair>();
    const sum = pairs.get(to) ?? { from, to, n: 0, nOther: 0, nbytes: 0, seconds: 0, firstS, lastS };
    this.#pairs.set(from, pairs.set(to, sum));
    sum.n += n;
    sum.nOther += nOther;
    sum.nbytes += nbytes;
    sum.seconds += seconds;
    sum.firstS = Math.min(sum.firstS, firstS);
    sum.lastS = Math.max(sum.lastS, lastS);
  }
}
