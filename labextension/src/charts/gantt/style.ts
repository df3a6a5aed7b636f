/** The Gantt chart's own rules; colours and fonts are those that all charts share. */

export const GANTT_CSS = `
.tsk-gantt { position: relative; padding: 6px 0 8px; }
.tsk-gantt [hidden] { display: none !important; }
.tsk-chart.tsk-gantt :is(dl, dt, dd, ul, li, table, caption, th, td) { float: none; width: auto; font-weight: normal; }
.tsk-chart.tsk-gantt :is(dt, dd) { display: block; margin: 0; padding: 0; }
.tsk-gantt-head {
  display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px;
  padding: 0 12px 6px; min-height: 30px;
}
.tsk-gantt-state { flex: 1 1 180px; min-width: 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-gantt-plot { position: relative; }
.tsk-gantt-scroll { overflow: hidden auto; overscroll-behavior: auto; scrollbar-width: thin; }
.tsk-gantt-content { position: relative; }
.tsk-gantt-view { position: sticky; top: 0; }
.tsk-gantt-view canvas { display: block; touch-action: pan-y; cursor: default; user-select: none; }
.tsk-gantt-workers { position: absolute; left: 0; top: 0; overflow: hidden; pointer-events: none; }
.tsk-gantt-worker {
  position: absolute; left: 0; width: 100%; padding: 0; border: 0; border-radius: 3px;
  background: transparent; pointer-events: auto; cursor: pointer;
}
.tsk-gantt-view canvas:focus { outline: none; }
.tsk-gantt-empty {
  display: flex; align-items: center; justify-content: center;
  min-height: 96px; padding: 16px; color: var(--tsk-faint); text-align: center;
}
.tsk-gantt-legend {
  display: flex; flex-wrap: wrap; gap: 2px 6px;
  margin: 6px 0 0; padding: 0 8px; list-style: none;
  max-height: 8.9em; overflow: auto;
}
.tsk-gantt-legend li { display: flex; min-width: 0; max-width: 100%; }
.tsk-gantt-legend button {
  display: inline-flex; align-items: center; gap: 6px; min-width: 0; max-width: 100%; height: 22px; padding: 0 6px;
  border: 1px solid transparent; border-radius: 3px; background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer;
}
.tsk-gantt-legend button:not([aria-pressed]) { border-color: var(--tsk-line); }
.tsk-gantt-legend-statuses { align-items: center; gap: 14px; padding: 0 6px; }
.tsk-gantt-legend-statuses > span { display: inline-flex; align-items: center; gap: 6px; }
.tsk-gantt-legend-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 24ch; }
.tsk-gantt-legend-count { color: var(--tsk-faint); }
.tsk-gantt-swatch { display: inline-block; flex: none; width: 11px; height: 11px; border-radius: 2px; forced-color-adjust: none; }
.tsk-gantt-swatch.tsk-erred { background: repeating-linear-gradient(135deg, var(--tsk-error) 0 2px, #2a0000 2px 4px); }
.tsk-gantt-swatch.tsk-interrupted { background: repeating-linear-gradient(0deg, var(--tsk-error) 0 2px, #2a0000 2px 4px); }
.tsk-gantt-swatch.tsk-lost { background: repeating-conic-gradient(var(--tsk-error) 0 25%, #2a0000 0 50%) 0 0 / 5px 5px; }
@media (max-width: 480px) {
  .tsk-gantt-head, .tsk-gantt-legend { padding-inline: 8px; }
}
`;
