/** The rules of what only clusters have. */

export const WORKERS_CSS = `
.tsk-workers[hidden] { display: none !important; }
.tsk-worker-picker { flex: 1 0 100%; }
.tsk-worker-picker select {
  max-width: min(320px, 100%); height: 26px; border: 1px solid var(--tsk-line); border-radius: 3px;
  background: var(--tsk-paper); color: var(--tsk-ink); font: inherit;
}
.tsk-worker-foot { display: flex; flex-wrap: wrap; gap: 2px 14px; }
.tsk-worker-swatch { display: inline-block; width: 11px; height: 11px; margin-inline-end: 5px; vertical-align: -1px; border-top: 1.5px solid var(--tsk-accent); forced-color-adjust: none; }
.tsk-worker-swatch:is(.tsk-results, .tsk-unmanaged) { background: color-mix(in srgb, var(--tsk-accent) 16%, transparent); }
.tsk-worker-swatch.tsk-results { background: color-mix(in srgb, var(--tsk-accent) 52%, transparent); }
.tsk-worker-swatch.tsk-spilled { border-top-style: dotted; }
.tsk-worker-picker select:focus-visible { outline: 2px solid var(--tsk-accent); }
`;
