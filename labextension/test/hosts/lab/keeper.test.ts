// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import type { Feed } from '../../../src/hosts/lab/feed/feed';
import { FEED_DEFAULTS } from '../../../src/hosts/lab/feed/state';
import { FakeKernel } from './fake-kernel';
import { CONTROL, DATA, batch, computing, reply, startedComputing, useFakeTime } from './live-feed';

useFakeTime();

it('has its answer when it comes, whatever was asked meanwhile', async () => {
  const { kernel, feed: { keeper } } = await startedComputing();
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
  const { kernel, feed: { keeper } } = await startedComputing();
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
  const { kernel, feed: { keeper } } = await startedComputing();
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

const RUNS = { firstRun: 1, lastRun: 1 };

describe('without an answer', () => {
  const outcomeOf = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => String(error));

  it.each<[string, (feed: Feed) => void]>([
    ['the connection is lost', feed => { feed.restarted(); }],
    ['comms are opened anew', feed => { feed.attach(); }],
    ['the page is put aside', feed => { feed.suspend(); }],
    ['the feed is over', feed => { feed.dispose(); }]
  ])('a request fails at once when %s', async (_, act) => {
    const feed = await computing(new FakeKernel());
    const asked = outcomeOf(feed.keeper.save(RUNS, 'taskscope'));
    act(feed);
    expect(await asked).toBe('Error: the connection to the kernel was lost');
  });

  it('a request fails where nothing can be sent, and after half a minute', async () => {
    const feed = await computing(new FakeKernel());
    const late = outcomeOf(feed.keeper.story(1, 'x'));
    await vi.advanceTimersByTimeAsync(30_000);
    feed.suspend();
    expect([await late, await outcomeOf(feed.keeper.compare(RUNS))]).toEqual([
      'Error: the kernel has not answered for 30 s', 'Error: the kernel does not answer'
    ]);
  });

  it('an explanation is to be asked for again, in a while', async () => {
    const feed = await computing(new FakeKernel());
    const asked = feed.keeper.explain(RUNS);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await asked).toEqual({ kind: 'later', waitS: 10 });
  });

  it('a request waits for the end of the cell where the kernel answers only between cells', async () => {
    const kernel = new FakeKernel(['taskscope']);
    const feed = await computing(kernel, { subshell: false });
    kernel.say('execute_input', { execution_count: 1 }, [], 'cell');
    const asked = [feed.keeper.story(1, 'x'), feed.keeper.story(1, 'y')].map(outcomeOf);
    await vi.advanceTimersByTimeAsync(600_000);
    kernel.say('status', { execution_state: 'idle' }, [], 'cell');
    kernel.push(CONTROL, reply('story', { request: 0, story: [['0 s', 'started']] }));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await Promise.all(asked)).toEqual([[['0 s', 'started']], 'Error: the kernel has not answered for 30 s']);
  });
});

it('sends again what a lost message may have answered, but writes no second file', async () => {
  const { kernel, feed } = await startedComputing();
  const asked = Promise.all([feed.keeper.save(RUNS, 'html'), feed.keeper.story(1, 'x')]);
  kernel.push(DATA, ...batch(2, 5, 1));
  const story = { verb: 'story', first_run: 1, last_run: 1, key: 'x', request: 1 };
  expect(kernel.verbs().slice(2)).toEqual([story, { verb: 'resync', cursor: 0 }, story]);
  kernel.push(CONTROL, reply('story', { request: 1, story: [] }));
  kernel.push(CONTROL, reply('save', { request: 0, path: 'a.html' }));
  expect(await asked).toEqual(['a.html', []]);
});

it('asks the kernel once where two views want the same at the same time', async () => {
  const { kernel, feed: { keeper } } = await startedComputing();
  const asked = Promise.all([keeper.story(1, 'x'), keeper.story(1, 'x')]);
  kernel.push(CONTROL, reply('story', { request: 0, story: [] }));
  expect([await asked, kernel.verbs().length]).toEqual([[[], []], 2]);
});

it('leaves its comms as they are while the kernel works on a request for longer than it takes to answer', async () => {
  const { kernel, feed: { keeper } } = await startedComputing();
  const comms = [...kernel.comms.keys()];
  await vi.advanceTimersByTimeAsync(8_000);
  const saved = keeper.save(RUNS, 'html');
  await vi.advanceTimersByTimeAsync(25_000);
  kernel.push(CONTROL, reply('save', { request: 0, path: 'a.html' }));
  kernel.push(CONTROL, reply('renew'));
  expect([await saved, [...kernel.comms.keys()]]).toEqual(['a.html', comms]);
});

it('has stacks sampled until the last view that shows them is closed', async () => {
  const { kernel, feed } = await startedComputing();
  const [one, other] = [new AbortController(), new AbortController()];
  const ends = (): number => kernel.verbs().filter(data => (data as { verb: string }).verb === 'end_profile').length;
  void feed.profile(RUNS, one.signal);
  void feed.profile(RUNS, one.signal);
  void feed.profile(RUNS, other.signal);
  const seen = [ends()];
  for (const view of [one, other]) {
    view.abort();
    seen.push(ends());
  }
  kernel.push(CONTROL, reply('profile', { request: 0, profile: null }));
  expect(seen).toEqual([0, 0, 1]);
});

it('has the kernel keep long computes as files while the setting is on', async () => {
  const { kernel, feed } = await startedComputing();
  const settings = { ...FEED_DEFAULTS, keepHistory: true };
  feed.configure(settings);
  feed.configure(settings);
  feed.configure(FEED_DEFAULTS);
  expect(kernel.verbs().slice(1)).toEqual([
    { verb: 'history', is_on: true },
    { verb: 'history', is_on: false }
  ]);
});
