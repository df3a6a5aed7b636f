/** Style sheets of charts, as constructed sheets: a Content-Security-Policy without inline styles allows them. */
import { DARK, LIGHT } from '../../lib/theme';

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
  --tsk-error: #c00000;
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
  --tsk-error: #ff6b6b;
}
.tsk-chart * { box-sizing: border-box; }
.tsk-notice { padding: 0 12px; color: var(--tsk-faint); }
.tsk-hidden {
  position: absolute !important;
  width: 1px; height: 1px;
  overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
`;
