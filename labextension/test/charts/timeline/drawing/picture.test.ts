import { expect, it, vi } from 'vitest';

import { pictureOf } from '../../../../src/charts/ui/picture';
import { LIGHT } from '../../../../src/lib/theme';

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
