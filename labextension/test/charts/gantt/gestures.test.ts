import { beforeEach, describe, expect, it } from 'vitest';

import type { Intents } from '../../../src/charts/gantt/gestures';
import { listenToGestures, press } from '../../../src/charts/gantt/gestures';

let log: unknown[][] = [];

function intents(): Intents {
  const note = (name: string) => (...args: unknown[]): void => {
    log.push([name, ...args]);
  };
  return {
    zoom: note('zoom'), pan: note('pan'), scrollLanes: note('scrollLanes'), fit: note('fit'), toggleFollow: note('toggleFollow'),
    hover: note('hover'), click: note('click'), clearSelection: note('clearSelection'), hint: note('hint')
  };
}

function listening(): { canvas: HTMLElement; controller: AbortController } {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  canvas.setPointerCapture = () => undefined;
  document.body.replaceChildren(canvas);
  const controller = new AbortController();
  listenToGestures(canvas, intents(), controller.signal);
  return { canvas, controller };
}

const fire = (canvas: HTMLElement, event: Event): boolean => canvas.dispatchEvent(event);
const mouse = (name: string, clientX: number, clientY = 5): Event =>
  Object.assign(new MouseEvent(name, { clientX, clientY, bubbles: true, cancelable: true }), { pointerId: 1 });

beforeEach(() => {
  log = [];
});

describe('wheel', () => {
  it('is left to the page unless the chart is focused or ctrl is held', () => {
    const { canvas } = listening();
    expect(fire(canvas, new WheelEvent('wheel', { deltaY: 100, cancelable: true }))).toBe(true);
    expect(fire(canvas, new WheelEvent('wheel', { deltaY: 0, ctrlKey: true, cancelable: true, clientX: 9 }))).toBe(false);
    expect(log).toEqual([['hint'], ['zoom', 1, 9]]);
  });

  it('zooms around the pointer when focused, and pans sideways', () => {
    const { canvas } = listening();
    canvas.focus();
    fire(canvas, new WheelEvent('wheel', { deltaY: 100, clientX: 30, cancelable: true }));
    fire(canvas, new WheelEvent('wheel', { deltaY: -1e9, clientX: 30, cancelable: true }));
    fire(canvas, new WheelEvent('wheel', { deltaX: 7, cancelable: true }));
    fire(canvas, new WheelEvent('wheel', { deltaY: 5, shiftKey: true, deltaMode: 1, cancelable: true }));
    expect(log).toEqual([['zoom', Math.exp(0.2), 30], ['zoom', Math.exp(-0.6), 30], ['pan', 7], ['pan', 80]]);
  });
});

describe('pointer', () => {
  it('a press without movement is a click', () => {
    const { canvas } = listening();
    ['pointerdown', 'pointermove', 'pointerup'].forEach((name, i) => fire(canvas, mouse(name, 10 + i)));
    expect(log).toEqual([['click', { xPx: 12, yPx: 5 }]]);
  });

  it('a press with movement drags the picture along', () => {
    const { canvas } = listening();
    fire(canvas, mouse('pointerdown', 10));
    fire(canvas, mouse('pointermove', 20));
    fire(canvas, mouse('pointermove', 15));
    fire(canvas, mouse('pointerup', 15));
    expect(log).toEqual([['hover', null], ['pan', -10], ['pan', 5]]);
  });

  it('moving hovers, leaving ends it, a double click fits', () => {
    const { canvas } = listening();
    fire(canvas, mouse('pointermove', 10));
    fire(canvas, mouse('pointerleave', 10));
    fire(canvas, mouse('dblclick', 10));
    expect(log).toEqual([['hover', { xPx: 10, yPx: 5 }], ['hover', null], ['fit']]);
  });
});

describe('keys', () => {
  it('arrows, WASD, plus, minus, Home, F and Escape', () => {
    const keys = ['ArrowLeft', 'a', 'ArrowRight', 'D', 'w', '+', '=', 's', '-', 'ArrowUp', 'ArrowDown', 'Home', 'f', 'Escape', 'x', 'toString'];
    expect(keys.map(key => press(key, intents()))).toEqual([...Array<boolean>(14).fill(true), false, false]);
    expect(log).toEqual([
      ['pan', -80], ['pan', -80], ['pan', 80], ['pan', 80], ['zoom', 1 / 1.5, null], ['zoom', 1 / 1.5, null], ['zoom', 1 / 1.5, null],
      ['zoom', 1.5, null], ['zoom', 1.5, null], ['scrollLanes', -1], ['scrollLanes', 1], ['fit'], ['toggleFollow'], ['clearSelection']
    ]);
  });

  it('do not reach the page’s own shortcuts; those with ctrl do', () => {
    const { canvas } = listening();
    const heard: string[] = [];
    document.body.onkeydown = event => heard.push(event.key);
    fire(canvas, new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }));
    fire(canvas, new KeyboardEvent('keydown', { key: 'a', ctrlKey: true, bubbles: true }));
    fire(canvas, new KeyboardEvent('keydown', { key: 'x', bubbles: true }));
    document.body.onkeydown = null;
    expect([heard, log]).toEqual([['a', 'x'], [['pan', -80]]]);
  });
});

it('nothing is heard after the end', () => {
  const { canvas, controller } = listening();
  controller.abort();
  for (const event of [mouse('pointerdown', 1), mouse('pointermove', 99), mouse('dblclick', 1), new KeyboardEvent('keydown', { key: 'a' })]) {
    fire(canvas, event);
  }
  expect(log).toEqual([]);
});
