import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { foldSilentFrames } from '../../../../src/hosts/lab/results/silent-frames';
import { SPOKEN, speak } from '../../../../src/hosts/report/speak';

let controller: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  controller = new AbortController();
  foldSilentFrames(document, { text: 'left out', signal: controller.signal });
});

afterEach(() => {
  controller.abort();
  document.body.replaceChildren();
  vi.useRealTimers();
});

function result(): { chart: HTMLElement; frame: HTMLIFrameElement } {
  const chart = document.createElement('div');
  chart.className = 'taskscope-chart';
  const frame = document.createElement('iframe');
  chart.append(document.createElement('img'), frame);
  document.body.append(chart);
  return { chart, frame };
}

function load(frame: HTMLIFrameElement): void {
  frame.dispatchEvent(new Event('load'));
}

function say(frame: HTMLIFrameElement, data: unknown): void {
  window.dispatchEvent(new MessageEvent('message', { data, source: frame.contentWindow }));
}

const look = (chart: HTMLElement): unknown[] => [
  chart.className,
  chart.querySelector('iframe')?.hidden,
  chart.querySelector('.taskscope-silent')?.textContent
];
const WHOLE = ['taskscope-chart', false, undefined];
const FOLDED = ['taskscope-chart taskscope-folded', true, 'left out'];

it('a frame whose script runs keeps its room, whether it speaks before it has loaded or after', () => {
  const [first, second] = [result(), result()];
  say(first.frame, SPOKEN);
  load(first.frame);
  load(second.frame);
  say(second.frame, SPOKEN);
  vi.runAllTimers();
  expect([look(first.chart), look(second.chart)]).toEqual([WHOLE, WHOLE]);
});

it('a frame that says nothing, or something else, is folded away, and the reason takes its place', () => {
  const [silent, other] = [result(), result()];
  load(silent.frame);
  load(other.frame);
  say(other.frame, 'hello');
  expect(look(silent.chart)).toEqual(WHOLE);
  vi.runAllTimers();
  expect([look(silent.chart), look(other.chart)]).toEqual([FOLDED, FOLDED]);
});

it('a frame that speaks late has its room back', () => {
  const { chart, frame } = result();
  load(frame);
  vi.runAllTimers();
  say(frame, SPOKEN);
  expect(look(chart)).toEqual(WHOLE);
});

it('leaves frames of others alone, and all when it is over', () => {
  const theirs = document.createElement('iframe');
  document.body.append(theirs);
  load(theirs);
  const { chart, frame } = result();
  load(frame);
  controller.abort();
  vi.runAllTimers();
  load(frame);
  vi.runAllTimers();
  expect([theirs.hidden, look(chart)]).toEqual([false, WHOLE]);
});

it('a page in no frame speaks to nobody', () => {
  const post = vi.spyOn(window, 'postMessage');
  speak();
  expect(post).not.toHaveBeenCalled();
});
