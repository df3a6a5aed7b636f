/** How the charts stand together. */

export const DASHBOARD_CSS = `
.tsk-dashboard { min-width: 0; }
.tsk-dashboard[data-prefixes='rows'] :is(.tsk-gantt-legend:not(:has(.tsk-of-others)), .tsk-gantt-legend > li:not(.tsk-of-others)) { display: none; }
.tsk-dashboard[data-prefixes='legend'] .tsk-progress-prefixes { display: none; }
.tsk-dashboard > .tsk-chart + .tsk-chart { border-top: 1px solid var(--tsk-line); }
.tsk-dashboard[data-compact] :is(.tsk-progress-prefixes, .tsk-gantt-legend, .tsk-gantt-state, .tsk-series-foot) { display: none; }
.tsk-dashboard[data-compact] .tsk-progress { padding-block: 4px; }
.tsk-dashboard[data-compact] :is(.tsk-gantt, .tsk-series) { padding-block: 2px 4px; }
`;
