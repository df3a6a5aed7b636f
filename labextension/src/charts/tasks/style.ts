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
.tsk-activities { border-top: 1px solid var(--tsk-line); }
.tsk-activities .tsk-legend-note { color: var(--tsk-faint); }
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
