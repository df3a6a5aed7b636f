import { expect, it, vi } from 'vitest';

import { type Painted, FrameLoop } from '../../../src/charts/ui/frame-loop';
import { fakeTime } from '../../fake-time';

it('an approximate picture is painted again once nothing was asked for in a while, and not after the end', () => {
  fakeTime();
  const ended = new AbortController();
  const next: Painted[] = ['approximate', 'approximate', 'still', 'approximate'];
  const paint = vi.fn((): Painted => next.shift() ?? 'still');
  const loop = new FrameLoop(paint, ended.signal);
  loop.request();
  vi.advanceTimersByTime(100);
  loop.request();
  vi.advanceTimersByTime(110);
  expect(paint).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(40);
  expect(paint).toHaveBeenCalledTimes(3);
  vi.advanceTimersByTime(1_000);
  expect(paint).toHaveBeenCalledTimes(3);
  loop.request();
  vi.advanceTimersByTime(20);
  ended.abort();
  vi.advanceTimersByTime(1_000);
  expect(paint).toHaveBeenCalledTimes(4);
});
