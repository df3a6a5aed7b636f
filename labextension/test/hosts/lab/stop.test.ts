// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import { type FixtureBatch, RUN } from '../../wire/wire-fixture';
import { FakeKernel } from './fake-kernel';
import { CONTROL, DATA, batch, computing, live, reply, startedComputing, useFakeTime } from './live-feed';

useFakeTime();

/** What the kernel says of how its compute can be stopped: interrupt 0, cancel 1. */
const ways = (way: number): FixtureBatch => ({ tables: { runs: [RUN], stops: [{ run: 0, way }] } });

describe('a compute', () => {
  it('stops through the feed where it is heard, else through the server', async () => {
    const heard = new FakeKernel();
    const stopped = (await live(heard)).stop(0, 'interrupt');
    heard.push(CONTROL, reply('stop', { request: 0 }));
    const unheard = new FakeKernel(['taskscope']);
    const feed = await computing(unheard, { subshell: false });
    unheard.push(DATA, ...batch(1, 0, 0, ways(0)));
    const answers = [await stopped, await feed.stop(0, 'interrupt')];
    expect([answers, heard.verbs().at(-1), heard.interrupts, unheard.interrupts]).toEqual([
      [null, null], { verb: 'stop', run: 0, way: 'interrupt', request: 0 }, 0, 1
    ]);
  });

  it('does not have the server interrupt what may be something else', async () => {
    const kernel = new FakeKernel(['taskscope']);
    const feed = await computing(kernel, { subshell: false });
    const unknown = await feed.stop(0, 'interrupt');
    kernel.push(DATA, ...batch(1, 0, 0, ways(1)));
    const background = await feed.stop(0, 'interrupt');
    expect([unknown, background, kernel.interrupts]).toEqual(['it has ended', 'it has ended', 0]);
  });

  it('is cancelled by a kernel that hears of it only between cells, which is said', async () => {
    const kernel = new FakeKernel(['taskscope']);
    const stopped = (await computing(kernel, { subshell: false })).stop(0, 'cancel');
    await vi.advanceTimersByTimeAsync(3_001);
    expect([await stopped, kernel.verbs().at(-1), kernel.interrupts]).toEqual([
      'this kernel receives requests only between cells: its futures will be cancelled then', { verb: 'stop', run: 0, way: 'cancel', request: 0 }, 0
    ]);
  });

  it('asks once where two views stop it at the same time, and interrupts nothing later', async () => {
    const { kernel, feed } = await startedComputing();
    const stopped = [feed.stop(0, 'interrupt'), feed.stop(0, 'interrupt')];
    kernel.push(CONTROL, reply('stop', { request: 0 }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([await Promise.all(stopped), kernel.verbs().slice(1), kernel.interrupts]).toEqual([
      [null, null], [{ verb: 'stop', run: 0, way: 'interrupt', request: 0 }], 0
    ]);
  });

  it('stops through the server, once for all views, when the kernel does not answer', async () => {
    const { kernel, feed } = await startedComputing();
    kernel.push(DATA, ...batch(1, 0, 0, ways(0)));
    const stopped = Promise.all([feed.stop(0, 'interrupt'), feed.stop(0, 'interrupt')]);
    await vi.advanceTimersByTimeAsync(3_001);
    expect([await stopped, kernel.interrupts]).toEqual([[null, null], 1]);
  });
});
