import { afterEach, expect, it, vi } from 'vitest';

import { readTheme, watchTheme } from '../../../src/charts/ui/theme';
import { TextFitter } from '../../../src/charts/ui/canvas';
import { type Painted, FrameLoop } from '../../../src/charts/ui/frame-loop';
import { fakeTime } from '../../fake-time';
import { pictureOf } from '../../../src/charts/ui/picture';
import { LIGHT } from '../../../src/lib/theme';

afterEach(() => { delete document.body.dataset.jpThemeLight; });

/** Media queries that the test answers for. */
function fakeMedia(prefersDark = false): { readonly asked: Map<string, EventTarget> } {
  const asked = new Map<string, EventTarget>();
  vi.stubGlobal('matchMedia', (text: string) => {
    const target = asked.get(text) ?? Object.assign(new EventTarget(), { matches: prefersDark && text.includes('dark') });
    asked.set(text, target);
    return target;
  });
  return { asked };
}

it('each change of the pixel ratio is heard, not only the first', () => {
  const { asked } = fakeMedia();
  const ended = new AbortController();
  const changed = vi.fn();
  vi.stubGlobal('devicePixelRatio', 1);
  watchTheme(changed, ended.signal);
  for (const [from, to] of [[1, 2], [2, 1.5], [1.5, 1]] as const) {
    vi.stubGlobal('devicePixelRatio', to);
    asked.get(`(resolution: ${from}dppx)`)?.dispatchEvent(new Event('change'));
  }
  expect(changed).toHaveBeenCalledTimes(3);
  ended.abort();
  asked.get('(resolution: 1dppx)')?.dispatchEvent(new Event('change'));
  expect(changed).toHaveBeenCalledTimes(3);
});

it('a page that says whether it is light is believed before the machine is asked', () => {
  fakeMedia(true);
  expect(readTheme(document.body).dark).toBe(true);
  document.body.dataset.jpThemeLight = 'true';
  expect(readTheme(document.body).dark).toBe(false);
});

/** Every character is 5 px wide. */
const CONTEXT = { measureText: (text: string) => ({ width: text.length * 5 }) } as unknown as CanvasRenderingContext2D;

it('cuts the end or the middle until the text fits', () => {
  const texts = new TextFitter();
  const name = 'tcp://10.0.0.13:40002';
  expect([texts.fit(CONTEXT, name, 200), texts.fit(CONTEXT, name, 55), texts.fit(CONTEXT, name, 55, 'middle'), texts.fit(CONTEXT, name, 4)]).toEqual([
    name, 'tcp://10.0…', 'tcp:…:40002', ''
  ]);
});

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

it('the picture of a chart that has nothing to plot is its words, not as high as its canvas is wide', () => {
  const drawn: unknown[] = [];
  const context = {
    measureText: () => ({ width: 50 }), fillRect: () => undefined, fillText: () => undefined, scale: () => undefined,
    drawImage: (image: unknown) => drawn.push(image)
  };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [1600, 300];
  const empty = pictureOf(canvas, 'cleared', [], LIGHT);
  expect([empty.width, empty.height, drawn]).toEqual([1600, 40, []]);
  Object.defineProperty(canvas, 'clientWidth', { value: 800 });
  const full = pictureOf(canvas, '3 tasks', [], LIGHT);
  expect([full.width, full.height, drawn]).toEqual([1600, 380, [canvas]]);
});
