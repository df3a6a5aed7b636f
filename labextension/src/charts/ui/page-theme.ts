/** The theme of the page around an element, and word when it changes. */
import type { Theme } from '../../lib/theme';
import { themeFrom } from '../../lib/theme';

const DARK_QUERY = '(prefers-color-scheme: dark)';

/** Read the theme anew; do so when `watchTheme` calls. */
export function readTheme(el: Element): Theme {
  const style = getComputedStyle(el);
  return themeFrom(name => style.getPropertyValue(name), matches(DARK_QUERY));
}

/** Call `changed` when JupyterLab or the operating system changes colours. */
export function watchTheme(changed: () => void, signal: AbortSignal): void {
  const observer = new MutationObserver(changed);
  const attributes = ['class', 'style', 'data-jp-theme-name', 'data-jp-theme-light'];
  observer.observe(document.body, { attributes: true, attributeFilter: attributes });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: attributes });
  signal.addEventListener('abort', () => {
    observer.disconnect();
  });
  query(DARK_QUERY)?.addEventListener('change', changed, { signal });
  query('(resolution: 1dppx)')?.addEventListener('change', changed, { signal });
}

/** Whether the person asked for no movement that is not needed. */
export function prefersStill(): boolean {
  return matches('(prefers-reduced-motion: reduce)');
}

function matches(text: string): boolean {
  return query(text)?.matches ?? false;
}

function query(text: string): MediaQueryList | null {
  return typeof matchMedia === 'function' ? matchMedia(text) : null;
}
