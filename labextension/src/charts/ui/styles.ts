/** Style sheets of charts, as constructed sheets: a Content-Security-Policy without inline styles allows them. */

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
  --tsk-paper: var(--jp-layout-color0, #ffffff);
  --tsk-raised: var(--jp-layout-color1, #ffffff);
  --tsk-ink: var(--jp-ui-font-color1, #1f2328);
  --tsk-faint: #59636e;
  --tsk-line: var(--jp-border-color2, #d8dde3);
  --tsk-accent: var(--jp-brand-color1, #1565c0);
  --tsk-error: #c00000;
  --tsk-font: var(--jp-ui-font-family, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif);
  --tsk-code: var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace);
  box-sizing: border-box;
  min-width: 0;
  color: var(--tsk-ink);
  background: var(--tsk-paper);
  font: 12px/1.45 var(--tsk-font);
  font-variant-numeric: tabular-nums;
}
.tsk-chart.tsk-dark {
  --tsk-paper: var(--jp-layout-color0, #161b22);
  --tsk-raised: var(--jp-layout-color1, #21262d);
  --tsk-ink: var(--jp-ui-font-color1, #e6edf3);
  --tsk-faint: #a3adb8;
  --tsk-line: var(--jp-border-color2, #3d444d);
  --tsk-accent: var(--jp-brand-color1, #64b5f6);
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
