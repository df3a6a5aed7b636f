import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, expect, it, vi } from 'vitest';

import { element } from '../../../src/charts/ui/dom';
import { serveResults } from '../../../src/hosts/lab/results';
import { KIND, VARIABLES } from '../../../src/hosts/report/iframe';

afterEach(() => { document.body.removeAttribute('data-jp-theme-light'); });

function result(): { chart: HTMLElement; frame: HTMLIFrameElement; more: HTMLDetailsElement; sent: unknown[] } {
  const [frame, more] = [element('iframe'), element('details', { class: 'taskscope-more' })];
  const chart = element('div', { class: 'taskscope-chart' }, frame);
  document.body.append(element('div', { class: 'taskscope-result' }, chart, more));
  const sent: unknown[] = [];
  vi.spyOn(frame.contentWindow as Window, 'postMessage').mockImplementation((message: unknown) => { sent.push(message); });
  return { chart, frame, more, sent };
}

function say(frame: HTMLIFrameElement, data: unknown): void {
  window.dispatchEvent(new MessageEvent('message', { data, source: frame.contentWindow }));
}

it('gives a frame the theme of the page and the height it needs, within bounds', async () => {
  const stop = new AbortController();
  const { chart, frame, more, sent } = result();
  document.body.dataset.jpThemeLight = 'false';
  serveResults(document, stop.signal);
  document.body.style.setProperty('--jp-layout-color0', '#111');
  say(frame, { kind: KIND, height: 0 });
  expect(sent).toMatchObject([{ kind: KIND, dark: true, brief: true, variables: { '--jp-layout-color0': '#111' } }]);
  const heights = [310.2, 1e9, 'x', -1, NaN].map(height => {
    say(frame, { kind: KIND, height });
    return chart.style.minHeight;
  });
  expect(heights).toEqual(['311px', '4000px', '4000px', '4000px', '4000px']);
  more.open = true;
  await vi.waitFor(() => { expect(sent.length).toBe(2); }, 60_000);
  document.body.dataset.jpThemeLight = 'true';
  await vi.waitFor(() => { expect(sent.length).toBe(3); }, 60_000);
  expect(sent.slice(1)).toMatchObject([{ dark: true, brief: false }, { dark: false, brief: false }]);
  stop.abort();
  say(frame, { kind: KIND, height: 0 });
  expect(sent.length).toBe(3);
});

it('sends a frame every variable that a chart uses', () => {
  const src = join(import.meta.dirname, '../../../src');
  const files = readdirSync(join(src, 'charts'), { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name)).map(name => join(src, 'charts', name));
  const used = [...files, join(src, 'lib/theme.ts')].flatMap(file => [...readFileSync(file, 'utf8').matchAll(/--jp-[a-z0-9-]+\b/g)].map(([name]) => name));
  expect([...new Set(used)].filter(name => !VARIABLES.includes(name))).toEqual([]);
});
