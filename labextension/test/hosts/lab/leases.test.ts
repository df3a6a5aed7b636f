// @vitest-environment node
import { expect, it } from 'vitest';

import { LeaseMap } from '../../../src/hosts/lab/feed/leases';

it('a thing is made once, stays while anybody uses it, and goes when it may', () => {
  const gone: string[] = [];
  let mayGo = false;
  const map = new LeaseMap<string, string>(() => mayGo, value => gone.push(value));
  const seen = (): unknown[] => [map.values(), [...gone]];
  const [first, second] = ['one', 'another'].map(value => map.lease('a', () => value));
  map.open('b', () => 'unused');
  const steps = [[first?.value, second?.value], seen()];
  first?.release();
  first?.release();
  mayGo = true;
  map.sweep();
  steps.push(seen());
  second?.release();
  expect([...steps, seen()]).toEqual([['one', 'one'], [['one', 'unused'], []], [['one'], ['unused']], [[], ['unused', 'one']]]);
});

it('all go when it is cleared, and a release after that changes nothing', () => {
  const gone: string[] = [];
  const map = new LeaseMap<string, string>(() => true, value => gone.push(value));
  const lease = map.lease('a', () => 'one');
  map.clear();
  lease.release();
  expect([map.get('a'), gone]).toEqual([undefined, ['one']]);
});
