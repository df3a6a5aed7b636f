/** How the charts stand together. */

export const DASHBOARD_CSS = `
.tsk-dashboard { min-width: 0; }
.tsk-dashboard[data-prefixes='rows']:not([data-brief]) .tsk-gantt-legend { display: none; }
.tsk-dashboard:is([data-prefixes='legend'], [data-brief]) .tsk-progress-prefixes { display: none; }
.tsk-dashboard > .tsk-chart + .tsk-chart { border-top: 1px solid var(--tsk-line); }
.tsk-dashboard[data-compact] :is(.tsk-progress-prefixes, .tsk-gantt-legend, .tsk-gantt-state, .tsk-series-foot) { display: none; }
.tsk-dashboard[data-compact] .tsk-progress { padding-block: 4px; }
.tsk-dashboard[data-compact] :is(.tsk-gantt, .tsk-series) { padding-block: 2px 4px; }
.tsk-dashboard[data-brief] .tsk-progress { padding-block: 4px; }
.tsk-dashboard[data-brief] .tsk-gantt { padding-block: 2px 4px; }
.tsk-dashboard[data-brief] .tsk-gantt-top { padding-bottom: 2px; }
.tsk-dashboard[data-brief] .tsk-gantt-legend { margin-top: 2px; max-height: 46px; }
.tsk-dashboard[data-brief] .tsk-gantt-legend:has(+ .tsk-activities:not([hidden])) { max-height: 24px; }
.tsk-dashboard[data-brief] .tsk-activities { max-height: 24px; overflow: auto; }
@container (max-width: 520px) {
  .tsk-dashboard[data-brief] :is(.tsk-gantt-state, .tsk-gauge-detail) { display: none; }
  .tsk-dashboard[data-brief] .tsk-series-head { flex: 1 1 0 !important; order: 0 !important; flex-wrap: nowrap; gap: 12px; }
  .tsk-dashboard[data-brief] .tsk-gauge { flex-basis: 0; }
  .tsk-dashboard[data-brief] .tsk-gauge > div:first-child { column-gap: 4px; }
  .tsk-dashboard[data-brief] [data-part='head'] .tsk-track-title { display: none; }
  .tsk-dashboard[data-brief] .tsk-toolbar button { padding-inline: 5px; }
}
`;
