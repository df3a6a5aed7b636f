import { expect, it } from 'vitest';

import { WorkerPicker } from '../../../src/charts/cluster/worker-picker';
import { english } from '../../../src/lib/translate';

it('counts all workers, also where it lists fewer', () => {
  const picker = new WorkerPicker(() => undefined, new AbortController().signal, english);
  const workers = Array.from({ length: 2_500 }, (_, id) => ({ id, name: `${id}`, address: `tcp://10.0.0.1:${id}`, nThreads: 1 }));
  picker.refresh([undefined, ...workers]);
  const options = [...picker.el.querySelectorAll('option')].map(option => option.textContent);
  expect(options[0]).toBe('All workers (2,500)');
  expect(options.slice(1)).toEqual(workers.slice(0, 2_000).map(({ name, address }) => `worker ${name} · ${address}`));
});
