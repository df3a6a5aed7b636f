import { beforeEach, describe, expect, it } from 'vitest';

import { type Intents, listenToGestures } from '../../../src/charts/timeline/gestures';
import { type TimeKeys, press, timeCommands } from '../../../src/charts/timeline/commands';

let log: unknown[][] = [];

const NAMES = ['zoom', 'pan', 'fit', 'toggleFollow', 'hover', 'click', 'hint', 'band', 'choose'] as const satisfies (keyof (Intents & TimeKeys))[];

function intents(): Intents & TimeKeys {
  const note = (name: string) => (...args: unknown[]): void => { log.push([name, ...args]); };
  const all = Object.fromEntries(NAMES.map(name => [name, note(name)])) as unknown as Intents & TimeKeys;
  return Object.assign(all, { press: (key: string, shift: boolean) => press(timeCommands(all, STATE), key, shift) });
}

const STATE = { leads: true, isFollowing: false, isOver: false };
let boxByDrag = false;

function listening(): { canvas: HTMLElement; controller: AbortController } {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  canvas.setPointerCapture = () => undefined;
  document.body.replaceChildren(canvas);
  const controller = new AbortController();
  listenToGestures(canvas, intents(), () => boxByDrag, controller.signal);
  return { canvas, controller };
}

const fire = (canvas: HTMLElement, event: Event): boolean => canvas.dispatchEvent(event);
const mouse = (name: string, clientX: number, { clientY = 5, shiftKey = false, pointerId = 1 } = {}): Event =>
  Object.assign(new MouseEvent(name, { clientX, clientY, shiftKey, bubbles: true, cancelable: true }), { pointerId });

beforeEach(() => {
  log = [];
  boxByDrag = false;
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

  it.each([['shift', true, false], ['the mode', false, true]])('a drag with %s chooses a span', (_, shiftKey, mode) => {
    boxByDrag = mode;
    const { canvas } = listening();
    fire(canvas, mouse('pointerdown', 50, { shiftKey }));
    fire(canvas, mouse('pointermove', 20));
    fire(canvas, mouse('pointerup', 20));
    expect(log).toEqual([['hover', null], ['band', [50, 20]], ['band', null], ['choose', [20, 50]]]);
  });

  it('a span that is given up or too short is not zoomed to', () => {
    const { canvas } = listening();
    fire(canvas, mouse('pointerdown', 50, { shiftKey: true }));
    fire(canvas, mouse('pointermove', 20));
    fire(canvas, mouse('pointercancel', 20));
    fire(canvas, mouse('pointerdown', 50, { shiftKey: true }));
    fire(canvas, mouse('pointermove', 60));
    fire(canvas, mouse('pointerup', 51));
    expect(log.filter(([name]) => name === 'choose')).toEqual([]);
    expect(log.at(-1)).toEqual(['band', null]);
  });

  it('two fingers zoom around their middle and move with it', () => {
    const { canvas } = listening();
    fire(canvas, mouse('pointerdown', 100));
    fire(canvas, mouse('pointerdown', 200, { pointerId: 2 }));
    fire(canvas, mouse('pointermove', 300, { pointerId: 2 }));
    fire(canvas, mouse('pointerup', 300, { pointerId: 2 }));
    expect(log).toEqual([['hover', null], ['pan', -50], ['zoom', 0.5, 200]]);
  });

  it('a third finger begins nothing', () => {
    const { canvas } = listening();
    for (const pointerId of [1, 2, 3]) {
      fire(canvas, mouse('pointerdown', 100 * pointerId, { pointerId }));
    }
    for (const pointerId of [3, 2, 1]) {
      fire(canvas, mouse('pointerup', 100 * pointerId, { pointerId }));
    }
    expect(log).toEqual([['hover', null]]);
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
  it.each([
    ['ArrowLeft', ['pan', -80]], ['a', ['pan', -80]], ['ArrowRight', ['pan', 80]], ['D', ['pan', 80]], ['w', ['zoom', 1 / 1.5, null]],
    ['+', ['zoom', 1 / 1.5, null]], ['=', ['zoom', 1 / 1.5, null]], ['s', ['zoom', 1.5, null]], ['-', ['zoom', 1.5, null]],
    ['Home', ['fit']], ['0', ['fit']], ['f', ['toggleFollow']]
  ])('%s', (key, intent) => { expect([press(timeCommands(intents(), STATE), key), log]).toEqual([true, [intent]]); });

  it('with Shift are others where a track has such, and what is none does nothing', () => {
    const own = { keys: ['Shift+A'], run: (key: string) => { log.push(['own', key]); } };
    const table = [...timeCommands(intents(), STATE), own];
    expect([press(table, 'A', true), press(table, 'A'), press(table, 'y'), press(table, 'toString'), press(table, 'Enter'), log])
      .toEqual([true, true, false, false, false, [['own', 'A'], ['pan', -80]]]);
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
