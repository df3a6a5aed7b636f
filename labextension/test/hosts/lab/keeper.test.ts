// @vitest-environment node
import { expect, it, vi } from 'vitest';

import { FEED_DEFAULTS } from '../../../src/hosts/lab/feed/state';
import { FakeKernel } from './fake-kernel';
import { CONTROL, DATA, batch, computing, live, reply, useFakeTime } from './live-feed';

useFakeTime();

it('has its answer when it comes, whatever was asked meanwhile', async () => {
  const kernel = new FakeKernel();
  const { keeper } = await computing(kernel);
  const answers = Promise.allSettled([
    keeper.save({ firstRun: 1, lastRun: null }, 'html'),
    keeper.compare({ firstRun: 2, lastRun: 3 }),
    keeper.save({ firstRun: 4, lastRun: 4 }, 'trace')
  ]);
  const asked = kernel.verbs().slice(1);
  kernel.push(CONTROL, reply('save', { request: 2, error: 'another recording is being written' }));
  kernel.push(CONTROL, reply('compare', { request: 1, html: '<p>' }));
  kernel.push(CONTROL, reply('save', { request: 9, path: '/of/nobody' }));
  kernel.push(CONTROL, reply('save', { request: 0, path: '/books/a.html' }));
  expect([asked, await answers]).toEqual([
    [
      { verb: 'save', first_run: 1, last_run: null, format: 'html', request: 0 },
      { verb: 'compare', first_run: 2, last_run: 3, request: 1 },
      { verb: 'save', first_run: 4, last_run: 4, format: 'trace', request: 2 }
    ],
    [
      { status: 'fulfilled', value: '/books/a.html' },
      { status: 'fulfilled', value: undefined },
      { status: 'rejected', reason: new Error('another recording is being written') }
    ]
  ]);
});

it('is explained what the kernel says, if that makes sense', async () => {
  const kernel = new FakeKernel();
  const { keeper } = await computing(kernel);
  const answers = Promise.allSettled([keeper.explain({ firstRun: 1, lastRun: 1 }), keeper.explain({ firstRun: 2, lastRun: 2 }, { startS: 3, stopS: 4.5 })]);
  const asked = kernel.verbs().slice(1);
  kernel.push(CONTROL, reply('explain', { request: 0, wait_s: 2 }));
  kernel.push(CONTROL, reply('explain', { request: 1, explanation: 'x' }));
  const [later, senseless] = await answers;
  expect([asked, later, String(senseless.status === 'rejected' && senseless.reason)]).toEqual([
    [
      { verb: 'explain', first_run: 1, last_run: 1, start_s: null, stop_s: null, request: 0 },
      { verb: 'explain', first_run: 2, last_run: 2, start_s: 3, stop_s: 4.5, request: 1 }
    ],
    { status: 'fulfilled', value: { kind: 'later', waitS: 2 } },
    'WireError: reply.explanation must be an object, got "x"'
  ]);
});

it('has the story of a task line by line', async () => {
  const kernel = new FakeKernel();
  const { keeper } = await computing(kernel);
  const answers = Promise.allSettled([keeper.story(3, 'x-1'), keeper.story(3, 'x-2')]);
  const asked = kernel.verbs().slice(1);
  kernel.push(CONTROL, reply('story', { request: 0, story: [['0 s', 'started'], ['1 s', 'finished']] }));
  kernel.push(CONTROL, reply('story', { request: 1, story: [['0 s']] }));
  const [told, senseless] = await answers;
  expect([asked[0], told, senseless.status]).toEqual([
    { verb: 'story', first_run: 3, last_run: 3, key: 'x-1', request: 0 },
    { status: 'fulfilled', value: [['0 s', 'started'], ['1 s', 'finished']] },
    'rejected'
  ]);
});

it('is told where no answer will come', async () => {
  const kernel = new FakeKernel();
  const feed = await live(kernel);
  kernel.push(DATA, ...batch(0, 0, 0));
  const lost = feed.keeper.save({ firstRun: 0, lastRun: null }, 'taskscope').catch((error: unknown) => String(error));
  feed.restarted();
  await vi.advanceTimersByTimeAsync(0);
  const closed = feed.keeper.compare({ firstRun: 0, lastRun: null }).catch((error: unknown) => String(error));
  expect([await lost, await closed]).toEqual([
    'Error: the connection to the kernel was lost meanwhile', 'Error: the kernel does not answer'
  ]);
});

it('has the kernel keep long computes as files while the setting is on', async () => {
  const kernel = new FakeKernel();
  const feed = await computing(kernel);
  const settings = { ...FEED_DEFAULTS, keepHistory: true };
  feed.configure(settings);
  feed.configure(settings);
  feed.configure(FEED_DEFAULTS);
  expect(kernel.verbs().slice(1)).toEqual([
    { verb: 'history', is_on: true },
    { verb: 'history', is_on: false }
  ]);
});
