/** The flame graph of a panel: what it requests of the kernel, and what it shows before there are samples. */
import { expect, it, vi } from 'vitest';

import { mountPanel } from '../../../src/hosts/chart-host';
import { FakeKernel } from './fake-kernel';
import { CONTROL, DATA, batch, computing, reply, useFakeTime } from './live-feed';

useFakeTime();

it('requests samples a second after the last answer came, not while a cell keeps the kernel from answering', async () => {
  const kernel = new FakeKernel(['taskscope']);
  const feed = await computing(kernel, { subshell: false });
  const [el, shown, panel] = [document.createElement('div'), new AbortController(), new AbortController()];
  document.body.append(el);
  kernel.say('execute_input', { execution_count: 1 }, [], 'cell');
  mountPanel('flame', el, feed, 'r', shown.signal, { axis: newAxis => newAxis(), until: panel.signal });
  const verbs = (): unknown[] => kernel.verbs().map(data => (data as { verb: string }).verb).filter(verb => verb.endsWith('profile'));
  let seq = 1;
  const compute = async (forS: number): Promise<number> => {
    for (let s = 0; s < forS; s += 1) {
      kernel.push(DATA, ...batch(seq, 0, 0));
      seq += 1;
      await vi.advanceTimersByTimeAsync(1_000);
    }
    return verbs().length;
  };
  const answer = async (request: number): Promise<void> => {
    kernel.push(CONTROL, reply('profile', { request, profile: null }));
    await vi.advanceTimersByTimeAsync(50);
  };
  const seen = [await compute(600)];
  kernel.say('status', { execution_state: 'idle' }, [], 'cell');
  await answer(0);
  seen.push(await compute(2));
  await answer(1);
  seen.push(await compute(5));
  expect(seen).toEqual([1, 2, 3]);
  expect(el.querySelector('.tsk-flame .tsk-track-empty')?.textContent).toMatch(/^No samples yet: sampling of call stacks begins with this panel/);
  shown.abort();
  panel.abort();
  expect(verbs().slice(-1)).toEqual(['end_profile']);
});
