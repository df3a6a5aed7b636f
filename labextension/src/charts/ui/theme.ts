/** The theme of the page around an element, and word when it changes. */
import type { Rgb } from '../../lib/palette';
import { parseColour } from '../../lib/palette';
import type { Theme } from '../../lib/theme';
import { DARK, LIGHT, themeFrom } from '../../lib/theme';

const DARK_QUERY = '(prefers-color-scheme: dark)';

/** Read the theme anew; do so when `watchTheme` calls. */
export function readTheme(el: Element): Theme {
  const style = getComputedStyle(el);
  const { jpThemeLight } = document.body.dataset;
  return themeFrom({
    text: name => style.getPropertyValue(name),
    colour: name => cssColour(style.getPropertyValue(name)),
    isDark: jpThemeLight === undefined ? matches(DARK_QUERY) : jpThemeLight === 'false'
  });
}

/** Call `changed` when JupyterLab or the operating system changes colours, or another screen has other pixels. */
export function watchTheme(changed: () => void, signal: AbortSignal): void {
  const observer = new MutationObserver(changed);
  const attributes = ['class', 'style', 'data-jp-theme-name', 'data-jp-theme-light'];
  observer.observe(document.body, { attributes: true, attributeFilter: attributes });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: attributes });
  signal.addEventListener('abort', () => {
    observer.disconnect();
  });
  query(DARK_QUERY)?.addEventListener('change', changed, { signal });
  watchPixels(changed, signal);
}

/** Have a chart's elements look as its canvas does. */
export function dress(root: HTMLElement, { dark, accent }: Theme): void {
  root.classList.toggle('tsk-dark', dark);
  root.style.setProperty('--tsk-accent', accent);
}

/** Have `apply` called with the theme around an element, now and whenever it changes. */
export function followTheme(elOf: () => Element | undefined, apply: (theme: Theme) => void, signal: AbortSignal): void {
  const read = (): void => {
    const el = elOf();
    // An element that is not in the page yet has no style to read.
    apply(readTheme(el?.isConnected === true ? el : document.body));
  };
  read();
  if (elOf()?.isConnected === false) {
    requestAnimationFrame(() => { if (!signal.aborted) { read(); } });
  }
  watchTheme(read, signal);
}

/** Call `changed` when one of these gets another size. */
export function watchSizes(els: readonly Element[], changed: () => void, signal: AbortSignal): void {
  if (typeof ResizeObserver === 'function') {
    const observer = new ResizeObserver(changed);
    els.forEach(el => { observer.observe(el); });
    signal.addEventListener('abort', () => { observer.disconnect(); }, { once: true });
  }
}

/** A query for one ratio changes when that is left, and once more when it comes back: each ratio needs its own. */
function watchPixels(changed: () => void, signal: AbortSignal): void {
  query(`(resolution: ${window.devicePixelRatio || 1}dppx)`)?.addEventListener(
    'change',
    () => {
      watchPixels(changed, signal);
      changed();
    },
    { once: true, signal }
  );
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

let pixel: CanvasRenderingContext2D | null = null;

/** A colour as the browser understands it: themes may use names, `hsl(…)` or `oklch(…)`. */
function cssColour(text: string): Rgb | null {
  pixel ??= document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (pixel === null || typeof CSS === 'undefined' || !CSS.supports('color', text)) {
    return parseColour(text);
  }
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = text;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  return alpha === 0 ? null : [red, green, blue];
}

const adopted = new WeakMap<Document | ShadowRoot, Set<string>>();

/** Apply `css` to the document or shadow root of `el`, once. */
export function adoptStyles(el: Element, css: string): void {
  const node = el.getRootNode();
  const root = node instanceof ShadowRoot ? node : document;
  const known = adopted.get(root) ?? new Set();
  if (known.has(css)) {
    return;
  }
  adopted.set(root, known.add(css));
  if ('adoptedStyleSheets' in root && 'replaceSync' in CSSStyleSheet.prototype) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }
}

/**
 * The colours all charts share; `--tsk-*` follow JupyterLab's variables and fall back to our own.
 * A chart's root has the class `tsk-chart`, and `tsk-dark` where its ground is dark.
 */
export const SHARED_CSS = `
.tsk-chart {
  --tsk-paper: var(--jp-layout-color0, ${LIGHT.paper});
  --tsk-raised: var(--jp-layout-color1, #ffffff);
  --tsk-ink: var(--jp-ui-font-color1, ${LIGHT.ink});
  --tsk-faint: ${LIGHT.faint};
  --tsk-line: var(--jp-border-color2, ${LIGHT.line});
  --tsk-accent: var(--jp-brand-color1, ${LIGHT.accent});
  --tsk-error: ${LIGHT.error};
  --tsk-error-gap: ${LIGHT.errorGap};
  --tsk-stopped: ${LIGHT.stopped};
  --tsk-font: var(--jp-ui-font-family, ${LIGHT.font});
  --tsk-code: var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace);
  box-sizing: border-box;
  min-width: 0;
  color: var(--tsk-ink);
  background: var(--tsk-paper);
  font: 12px/1.45 var(--tsk-font);
  font-variant-numeric: tabular-nums;
}
.tsk-chart.tsk-dark {
  --tsk-paper: var(--jp-layout-color0, ${DARK.paper});
  --tsk-raised: var(--jp-layout-color1, #21262d);
  --tsk-ink: var(--jp-ui-font-color1, ${DARK.ink});
  --tsk-faint: ${DARK.faint};
  --tsk-line: var(--jp-border-color2, ${DARK.line});
  --tsk-accent: var(--jp-brand-color1, ${DARK.accent});
  --tsk-error: ${DARK.error};
  --tsk-error-gap: ${DARK.errorGap};
  --tsk-stopped: ${DARK.stopped};
}
.tsk-chart * { box-sizing: border-box; }
.tsk-chart[hidden], .tsk-chart [hidden] { display: none !important; }
.tsk-erred { background: repeating-linear-gradient(135deg, var(--tsk-error) 0 2px, var(--tsk-error-gap) 2px 4px); }
:is(.tsk-interrupted, .tsk-released) { background: repeating-linear-gradient(0deg, var(--tsk-stopped) 0 2px, color-mix(in srgb, var(--tsk-stopped) 25%, var(--tsk-paper)) 2px 4px); }
.tsk-lost { background: repeating-conic-gradient(var(--tsk-error) 0 25%, var(--tsk-error-gap) 0 50%) 0 0 / 5px 5px; }
.tsk-notice { padding: 0 12px; color: var(--tsk-faint); }
.tsk-hidden {
  position: absolute !important;
  width: 1px; height: 1px;
  overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
`;
