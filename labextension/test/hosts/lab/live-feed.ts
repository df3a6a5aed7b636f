/** A feed on a kernel that the test answers for. */
import { afterEach, beforeEach, vi } from 'vitest';

import type { Feed } from '../../../src/hosts/lab/feed/feed';
import { kernelFeed } from '../../../src/hosts/lab/feed/kernel-feed';
import { type FixtureBatch, RUN, wireMessage } from '../../wire/wire-fixture';
import { FakeKernel } from './fake-kernel';

const MODEL = { id: 'k', name: 'python3' };
export const CONTROL = 'taskscope.control';
export const DATA = 'taskscope.data';

let feeds: Feed[] = [];

export function feedOf(kernel: FakeKernel): Feed {
  const feed = kernelFeed(kernel.asManager(), MODEL);
  feeds.push(feed);
  return feed;
}

export function reply(re: string, changes: object = {}): object {
  return { re, protocol: 1, recorder: 'r', epoch: 'r-1', cursor: 0, lease_s: 30, subshell: true, ...changes };
}

/** A batch of `count` tasks from row `first` on, named by their row. */
export function batch(seq: number, first: number, count: number, changes: FixtureBatch = {}): [object, ArrayBuffer[]] {
  const rows = Array.from({ length: count }, (_, i) => ({ key: [first + i] }));
  const none = { runs: [], progress: [], estimates: [], stops: [], live_states: [], running: [], messages: [] };
  const { message, buffers } = wireMessage(rows, {
    recorder: 'r', epoch: 'r-1', seq, first, ...changes,
    tables: { ...(seq === 0 ? { groups: [{ name: 'x-1', prefix: 'x' }] } : {}), ...none, ...changes.tables }
  });
  return [message, buffers];
}

export async function live(kernel: FakeKernel, changes: object = {}): Promise<Feed> {
  const feed = feedOf(kernel);
  await vi.advanceTimersByTimeAsync(0);
  kernel.push(CONTROL, reply('hello', changes));
  return feed;
}

/** Have timers stand still between tests, and no feed outlive its test. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    feeds.forEach(feed => {
      feed.dispose();
    });
    feeds = [];
  });
}

/** A feed whose kernel said that a compute runs. */
export async function computing(kernel: FakeKernel, changes: object = {}, scheduler = 'threads'): Promise<Feed> {
  const feed = await live(kernel, changes);
  kernel.push(DATA, ...batch(0, 0, 0, { tables: { runs: [{ ...RUN, scheduler }] } }));
  return feed;
}

interface Started {
  readonly kernel: FakeKernel;
  readonly feed: Feed;
}

/** A kernel, and a feed that it has answered. */
export async function started(): Promise<Started> {
  const kernel = new FakeKernel();
  return { kernel, feed: await live(kernel) };
}

/** The same while a compute runs. */
export async function startedComputing(): Promise<Started> {
  const kernel = new FakeKernel();
  return { kernel, feed: await computing(kernel) };
}
