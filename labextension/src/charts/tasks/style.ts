/** The rules of the lanes of tasks; colours and fonts are those that all charts share. */

export const TASKS_CSS = `
.tsk-gantt-top { min-height: 30px; }
.tsk-gantt-state { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-gantt-workers { position: absolute; left: 0; top: 0; overflow: hidden; pointer-events: none; }
.tsk-gantt-worker {
  position: absolute; left: 0; width: 100%; padding: 0; border: 0; border-radius: 3px;
  background: transparent; pointer-events: auto; cursor: pointer;
}
.tsk-gantt-worker:hover { background: color-mix(in srgb, var(--tsk-ink) 10%, transparent); }
.tsk-gantt-worker:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: -2px; }
.tsk-gantt-legend {
  display: flex; flex-wrap: wrap; gap: 2px 6px;
  margin: 6px 0 0; padding: 0 5px; list-style: none;
  max-height: 166px; overflow: auto;
}
.tsk-gantt-legend li { display: flex; min-width: 0; max-width: 100%; }
.tsk-gantt-legend button {
  display: inline-flex; align-items: center; gap: 6px; min-width: 0; max-width: 100%; height: 22px; padding: 0 6px;
  border: 1px solid transparent; border-radius: 3px; background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer;
}
.tsk-gantt-legend button:not([aria-pressed]) { border-color: var(--tsk-line); }
.tsk-gantt-legend button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-gantt-legend button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: -1px; }
.tsk-gantt-legend button[aria-pressed='false'] .tsk-gantt-legend-name { text-decoration: line-through; }
.tsk-gantt-legend button[aria-pressed='false'] :is(.tsk-gantt-legend-name, .tsk-gantt-legend-count) { color: var(--tsk-faint); }
.tsk-gantt-legend button[aria-pressed='false'] .tsk-gantt-swatch { background: transparent !important; box-shadow: inset 0 0 0 2px var(--tsk-faint); }
.tsk-gantt-legend-statuses { align-items: center; gap: 14px; padding: 0 6px; }
.tsk-gantt-legend-statuses > span { display: inline-flex; align-items: center; gap: 6px; }
.tsk-activities { border-top: 1px solid var(--tsk-line); }
.tsk-activities .tsk-gantt-legend-statuses { color: var(--tsk-faint); }
.tsk-gantt-legend-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 24ch; }
.tsk-gantt-legend-count { color: var(--tsk-faint); }
.tsk-gantt-swatch { display: inline-block; flex: none; width: 11px; height: 11px; border-radius: 2px; forced-color-adjust: none; }
.tsk-gantt-swatch.tsk-erred { background: repeating-linear-gradient(135deg, var(--tsk-error) 0 2px, #2a0000 2px 4px); }
.tsk-gantt-swatch.tsk-interrupted { background: repeating-linear-gradient(0deg, var(--tsk-error) 0 2px, #2a0000 2px 4px); }
.tsk-gantt-swatch.tsk-lost { background: repeating-conic-gradient(var(--tsk-error) 0 25%, #2a0000 0 50%) 0 0 / 5px 5px; }
.tsk-gantt-find { padding: 0 12px 6px; }
.tsk-gantt-find > span { color: var(--tsk-faint); }
:is(.tsk-gantt-card, .tsk-gantt-range) { margin: 8px 12px 0; padding: 8px 10px; border: 1px solid var(--tsk-line); border-inline-start: 3px solid var(--tsk-accent); border-radius: 4px; }
:is(.tsk-gantt-card, .tsk-gantt-range) .tsk-bar { margin-top: 6px; }
.tsk-gantt-card dl {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(230px, 100%), 1fr)); gap: 2px 16px; margin: 0;
}
.tsk-gantt-card dl > div { display: flex; gap: 8px; min-width: 0; }
.tsk-gantt-card dt { flex: none; min-width: 5.8em; }
.tsk-gantt-range p { margin: 0; }
.tsk-gantt-range .tsk-gantt-range-title { font-weight: 600; }
.tsk-gantt-range caption { white-space: nowrap; }
.tsk-chart .tsk-gantt-range .tsk-text-table { max-height: 180px; margin: 6px 0 0; }
.tsk-gantt-links { margin-top: 4px; }
.tsk-gantt-links > span { color: var(--tsk-faint); }
.tsk-gantt-links ul { max-height: 190px; margin: 0; padding: 0; overflow: auto; list-style: none; }
.tsk-gantt-links li { display: inline-block; max-width: 100%; margin-inline-end: 10px; overflow-wrap: anywhere; font: 11.5px/1.5 var(--tsk-code); color: var(--tsk-faint); }
.tsk-gantt-links button {
  display: block; height: auto; padding: 0; border: 0; background: none; color: var(--tsk-ink); font: inherit; text-align: start; text-decoration: underline; overflow-wrap: anywhere; cursor: pointer;
}
.tsk-gantt-links button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
@media (max-width: 480px) {
  .tsk-gantt-legend { padding-inline: 1px; }
}
`;
