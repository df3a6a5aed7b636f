import { afterEach, expect, it, vi } from 'vitest';

import { readTheme, watchTheme } from '../../../src/charts/ui/theme';

afterEach(() => {
  delete document.body.dataset.jpThemeLight;
});

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
