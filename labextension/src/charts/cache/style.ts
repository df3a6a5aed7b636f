/** The cache chart's own rules. */

export const CACHE_CSS = `
.tsk-cache .tsk-series-head { align-items: center; gap: 4px 12px; }
.tsk-cache-now { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-cache-measures { display: flex; flex-wrap: wrap; gap: 4px; }
.tsk-cache .tsk-cache-peak { color: var(--tsk-ink); }
.tsk-cache-legend {
  display: flex; flex-wrap: wrap; gap: 3px 16px; margin: 4px 0 0; padding: 0; list-style: none;
  max-height: 8.9em; overflow: auto;
}
.tsk-cache-legend li { display: flex; align-items: center; gap: 6px; min-width: 0; max-width: 100%; }
.tsk-cache-legend-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 24ch; color: var(--tsk-ink); }
.tsk-cache-swatch { display: inline-block; flex: none; width: 11px; height: 11px; border-radius: 2px; forced-color-adjust: none; }
`;
