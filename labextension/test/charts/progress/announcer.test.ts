// @vitest-environment node
import { beforeEach, expect, it, vi } from 'vitest';

import { Announcer } from '../../../src/charts/progress/view';
import { fakeTime } from '../../fake-time';

beforeEach(fakeTime);

it('says the first thing at once and then, every five seconds, the latest; nothing old stays in the page', () => {
  const announcer = new Announcer(() => undefined, new AbortController().signal);
  const heard: string[] = [];
  for (let second = 0; second < 12; second += 1) {
    announcer.say(`${second} s`);
    heard.push(announcer.text);
    vi.advanceTimersByTime(1000);
  }
  expect(heard).toEqual(['0 s', '0 s', '', '', '', '4 s', '4 s', '', '', '', '9 s', '9 s']);
});

it('says the last news although nothing follows, but never after it was closed', () => {
  const controller = new AbortController();
  const changed = vi.fn();
  const announcer = new Announcer(changed, controller.signal);
  announcer.say('running');
  announcer.say('finished');
  vi.advanceTimersByTime(5000);
  expect([announcer.text, announcer.hasSaid]).toEqual(['finished', true]);
  announcer.say('running again');
  controller.abort();
  announcer.say('too late');
  vi.advanceTimersByTime(60_000);
  expect([announcer.text, changed.mock.calls.length, vi.getTimerCount()]).toEqual(['finished', 3, 0]);
});

it('says an end at once, what was due before it never, and the same not again', () => {
  const announcer = new Announcer(() => undefined, new AbortController().signal);
  announcer.say('1 of 2');
  announcer.say('2 of 2');
  announcer.say('finished', true);
  const said = announcer.text;
  vi.advanceTimersByTime(60_000);
  announcer.say('finished');
  vi.advanceTimersByTime(60_000);
  expect([said, announcer.text]).toEqual(['finished', '']);
});
