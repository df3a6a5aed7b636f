/** How the two charts stand together. */

export const DASHBOARD_CSS = `
.tsk-dashboard { min-width: 0; }
.tsk-dashboard[data-prefixes='rows'] .tsk-gantt-legend { display: none; }
.tsk-dashboard[data-prefixes='legend'] .tsk-progress-prefixes { display: none; }
.tsk-dashboard .tsk-gantt { border-top: 1px solid var(--tsk-line); }
`;
