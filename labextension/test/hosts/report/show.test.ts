import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { storeFrom } from '../../../src/hosts/report/data';
import { showReports } from '../../../src/hosts/report/show';

const FIXTURES = join(import.meta.dirname, '../../../../tests/fixtures/wire');

interface Entry {
  message: { seq: number; first: number; cursor: number };
  buffers: string[];
}

function fixture(name: string): Entry {
  const { message, buffers } = JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as Entry;
  return { message, buffers };
}

/** As Python writes it into a page. */
const dataText = (...entries: unknown[]): string => JSON.stringify(entries).replaceAll('<', '\\u003c');

let controller: AbortController;

beforeEach(() => {
  controller = new AbortController();
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
});

afterEach(() => {
  controller.abort();
  document.body.replaceChildren();
});

function embed(text: string): HTMLScriptElement {
  const data = document.createElement('script');
  data.type = 'application/json';
  data.className = 'taskscope-data';
  data.textContent = text;
  document.body.append(data);
  return data;
}

it('reads the messages that the kernel embeds', () => {
  const store = storeFrom(dataText(fixture('statuses.json')));
  const ends = store.laneIds.flatMap(lane => [0, 1].map(i => store.detail(lane, i)?.status));
  expect([store.nTasks, ends.sort()]).toEqual([4, ['erred', 'finished', 'interrupted', 'lost']]);
});

it('shows hostile keys as text, right below the data', () => {
  const data = embed(dataText(fixture('hostile_keys.json')));
  showReports(controller.signal);
  const view = data.nextElementSibling;
  expect([view?.className, view?.querySelectorAll('.tsk-dashboard').length]).toEqual(['taskscope-view', 1]);
  expect(view?.querySelectorAll('script, img, iframe, b').length).toBe(0);
});

it.each([
  ['no JSON', 'oops', 'SyntaxError'],
  ['no messages', '[]', 'WireError: data must be a list of messages, got an array of 0'],
  ['no buffers', dataText({ message: {} }), 'WireError: data[0] must be an object with message and buffers'],
  ['no base64', dataText({ message: {}, buffers: [7] }), 'WireError: data[0].buffers[0] must be base64, got 7'],
  [
    'a message missing',
    dataText(fixture('empty.json'), { ...fixture('empty.json'), message: { ...fixture('empty.json').message, seq: 7 } }),
    'WireError: data[1] must be the next message'
  ]
])('leaves a page alone whose data has %s, and tells its console', (_, text, error) => {
  const reported = vi.fn();
  vi.stubGlobal('reportError', reported);
  embed(text);
  showReports(controller.signal);
  expect(document.querySelectorAll('.taskscope-view').length).toBe(0);
  expect(reported.mock.calls.map(([reason]) => String(reason).slice(0, error.length))).toEqual([error]);
});
