// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import { FakeKernel } from './fake-kernel';
import { CONTROL, computing, live, reply, useFakeTime } from './live-feed';

useFakeTime();

describe('a compute', () => {
  it('stops through the feed where it is heard, else through the server', async () => {
    const heard = new FakeKernel();
    const stopped = (await live(heard)).stop();
    heard.push(CONTROL, reply('stop'));
    const unheard = new FakeKernel(['taskscope']);
    const answers = [await stopped, await (await computing(unheard, { subshell: false })).stop()];
    expect([answers, heard.verbs().at(-1), heard.interrupts, unheard.interrupts]).toEqual([
      [null, null], { verb: 'stop' }, 0, 1
    ]);
  });

  it('does not have the server interrupt what may be something else', async () => {
    const idle = new FakeKernel(['taskscope']);
    const onCluster = new FakeKernel(['taskscope']);
    const answers = [
      await (await live(idle, { subshell: false })).stop(),
      await (await computing(onCluster, { subshell: false }, 'distributed')).stop()
    ];
    expect(answers).toEqual([
      'nothing is running',
      'it runs on a cluster, and this kernel does not say whether its cell waits for that: interrupt the kernel from the menu'
    ]);
    expect([idle.interrupts, onCluster.interrupts]).toEqual([0, 0]);
  });

  it('asks once where two views stop at the same time, and interrupts nothing later', async () => {
    const kernel = new FakeKernel();
    const feed = await computing(kernel);
    const stopped = [feed.stop(), feed.stop()];
    kernel.push(CONTROL, reply('stop'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([await Promise.all(stopped), kernel.verbs().slice(1), kernel.interrupts]).toEqual([[null, null], [{ verb: 'stop' }], 0]);
  });

  it('says why there is nothing to stop', async () => {
    const kernel = new FakeKernel();
    const stopped = (await live(kernel)).stop();
    kernel.push(CONTROL, reply('stop', { error: 'nothing is running' }));
    expect([await stopped, kernel.interrupts]).toEqual(['nothing is running', 0]);
  });

  it('stops through the server when the kernel does not answer', async () => {
    const kernel = new FakeKernel();
    const stopped = (await computing(kernel)).stop();
    await vi.advanceTimersByTimeAsync(3_001);
    expect([await stopped, kernel.interrupts]).toEqual([null, 1]);
  });
});
