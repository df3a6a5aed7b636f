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
.tsk-seconds { padding-top: 6px; }
.tsk-seconds-title { color: var(--tsk-ink); font-weight: 600; }
.tsk-seconds-row { display: flex; align-items: center; gap: 8px; min-width: 0; height: 18px; }
.tsk-seconds-prefix { flex: 0 1 18ch; min-width: 6ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--tsk-ink); }
.tsk-seconds-bar { flex: 1 1 0; display: flex; min-width: 0; height: 12px; }
.tsk-seconds-bar > span { flex: none; height: 100%; forced-color-adjust: none; }
.tsk-seconds-total { flex: 0 0 8ch; text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tsk-seconds-legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin-top: 2px; }
.tsk-seconds-legend > span { display: inline-flex; align-items: center; gap: 5px; }
.tsk-seconds-legend .tsk-gantt-swatch { display: inline-block; flex: none; width: 11px; height: 11px; border-radius: 2px; forced-color-adjust: none; }
.tsk-worker-picker select:focus-visible { outline: 2px solid var(--tsk-accent); }
`;
