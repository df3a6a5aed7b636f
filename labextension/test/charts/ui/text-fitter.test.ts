// @vitest-environment node
import { expect, it, vi } from 'vitest';

import { TextFitter } from '../../../src/charts/ui/canvas';

/** Every character is 5 px wide. */
const measureText = vi.fn((text: string) => ({ width: text.length * 5 }));
const CONTEXT = { measureText } as unknown as CanvasRenderingContext2D;

it('cuts the end or the middle until the text fits', () => {
  const texts = new TextFitter();
  const name = 'tcp://10.0.0.13:40002';
  expect([texts.fit(CONTEXT, name, 200), texts.fit(CONTEXT, name, 55), texts.fit(CONTEXT, name, 55, 'middle'), texts.fit(CONTEXT, name, 4)]).toEqual([
    name, 'tcp://10.0…', 'tcp:…:40002', ''
  ]);
});

it('measures a text once', () => {
  measureText.mockClear();
  const texts = new TextFitter();
  texts.fit(CONTEXT, 'abc', 100);
  texts.fit(CONTEXT, 'abc', 100);
  expect(measureText).toHaveBeenCalledTimes(1);
});
