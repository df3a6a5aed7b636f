/** The cache chart's own rules. */

export const CACHE_CSS = `
.tsk-cache .tsk-series-head { flex-basis: 110px; align-items: center; gap: 4px 12px; }
.tsk-cache-now { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-cache-measures button {
  display: inline-flex; align-items: center; justify-content: center;
  min-width: 26px; height: 24px; padding: 0 8px; max-width: 24ch;
  border: 1px solid var(--tsk-line); border-radius: 3px;
  background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer;
}
.tsk-cache-measures button span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-cache-measures button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-cache-measures button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-cache-measures button[aria-pressed='true'] {
  border-color: var(--tsk-accent);
  background: color-mix(in srgb, var(--tsk-accent) 16%, transparent);
  font-weight: 600;
}
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
