// @vitest-environment node
/** Messages that come twice, late, in another order or not at all: in the end every row is there, once. */
import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';

import { kernelFeed } from '../../../src/hosts/lab/feed/kernel-feed';
import type { TaskStore } from '../../../src/store';
import { wireMessage } from '../../wire/wire-fixture';
import { FakeKernel } from './fake-kernel';

const N_ROWS = 40;

/** The kernel's side of a data stream, and the network between. */
class Network {
  readonly underway: [object, ArrayBuffer[]][] = [];
  #seq = 0;
  #cursor = 0;
  #stream = 0;
  #verbs = 0;

  constructor(private readonly kernel: FakeKernel) {}

  send(count: number): void {
    const [first, seq] = [this.#cursor, this.#seq];
    const rows = Array.from({ length: Math.min(count, N_ROWS - first) }, (_, i) => ({
      lane: (first + i) % 2, stopUs: ((first + i) * 7919) % 50_000, durationS: 0.001, key: [first + i]
    }));
    const { message, buffers } = wireMessage(rows, { stream: this.#stream, seq, first, cursor: N_ROWS });
    this.underway.push([message, buffers]);
    this.#cursor += rows.length;
    this.#seq += 1;
  }

  deliver(): void {
    const next = this.underway.shift();
    if (next !== undefined) {
      this.kernel.push('taskscope.data', ...next);
    }
    const verbs = this.kernel.verbs() as { verb: string; cursor: number }[];
    for (const { verb, cursor } of verbs.slice(this.#verbs)) {
      if (verb === 'resync' || verb === 'hello') {
        [this.#seq, this.#cursor] = [0, cursor];
        this.#stream += 1;
        this.kernel.push('taskscope.control', {
          re: verb, protocol: 1, recorder: 'rec', epoch: 'rec-1', cursor: N_ROWS, lease_s: 30, subshell: true
        });
      }
    }
    this.#verbs = verbs.length;
  }

  /** Do something to the messages underway, then let the rest come as it should. */
  disturb(steps: readonly [what: string, n: number][]): void {
    const { underway } = this;
    for (const [what, n] of steps) {
      const place = underway.length === 0 ? 0 : n % underway.length;
      const picked = underway[place];
      if (what === 'send') {
        this.send(n);
      } else if (what === 'deliver') {
        this.deliver();
      } else if (what === 'lose') {
        underway.splice(place, 1);
      } else if (picked !== undefined) {
        underway.splice(what === 'repeat' ? place : underway.length, 0, ...(what === 'repeat' ? [picked] : underway.splice(place, 1)));
      }
    }
    // The kernel hears the page although nothing comes through yet.
    this.deliver();
    for (let calm = 0; calm < 6; calm += 1) {
      this.send(N_ROWS);
      while (underway.length > 0) {
        this.deliver();
      }
    }
  }
}

function rowsOf(store: TaskStore): unknown[] {
  return store.laneIds.map(id => Array.from({ length: store.lane(id)?.n ?? 0 }, (_, i) => store.detail(id, i)));
}

beforeEach(() => { vi.useFakeTimers(); });

it('whatever happens to messages, the page ends with the rows that were recorded', async () => {
  const stored = async (steps: readonly [string, number][]): Promise<unknown[]> => {
    const kernel = new FakeKernel();
    const feed = kernelFeed(kernel.asManager(), { id: 'k', name: 'python3' });
    await vi.advanceTimersByTimeAsync(0);
    new Network(kernel).disturb(steps);
    const { value: store } = feed.use('rec');
    const seen = [store.nTasks, store.cursor, store.missing, rowsOf(store)];
    feed.dispose();
    return seen;
  };
  const whole = await stored([]);
  expect(whole.slice(0, 3)).toEqual([N_ROWS, N_ROWS, 0]);
  const step = fc.tuple(fc.constantFrom('send', 'deliver', 'lose', 'repeat', 'delay'), fc.nat({ max: 9 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => { expect(await stored(steps)).toEqual(whole); }),
    { seed: 21, numRuns: 200 }
  );
});
