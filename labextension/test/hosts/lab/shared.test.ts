// @vitest-environment node
import { expect, it } from 'vitest';

import { SharedMap } from '../../../src/hosts/lab/feed/shared';

it('a thing is made once, stays while anybody uses it, and goes when it may', () => {
  const gone: string[] = [];
  let mayGo = false;
  const map = new SharedMap<string, string>(() => mayGo, value => gone.push(value));
  const seen = (): unknown[] => [map.values(), [...gone]];
  const [first, second] = ['one', 'another'].map(value => map.use('a', () => value));
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
  const map = new SharedMap<string, string>(() => true, value => gone.push(value));
  const use = map.use('a', () => 'one');
  map.clear();
  use.release();
  expect([map.get('a'), gone]).toEqual([undefined, ['one']]);
});
