/** The rules of what only clusters have. */

export const ACTIVITY_CSS = `
.tsk-activities { border-top: 1px solid var(--tsk-line); padding-top: 4px; }
.tsk-activities .tsk-gantt-legend-statuses { color: var(--tsk-faint); }
`;
