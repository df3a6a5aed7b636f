/** The flame graph's own rules. */

export const FLAME_CSS = `
.tsk-flame { padding: 6px 0 8px; container-type: inline-size; overflow-wrap: anywhere; }
.tsk-flame select { height: 24px; max-width: 24ch; border: 1px solid var(--tsk-line); border-radius: 3px; background: var(--tsk-paper); color: var(--tsk-ink); font: inherit; }
.tsk-flame :focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-flame-sum { flex: 1 1 16ch; min-width: 0; color: var(--tsk-faint); }
.tsk-flame-find { padding: 0 12px 6px; }
.tsk-flame-body { padding: 0 12px; }
.tsk-flame-body > :is(.tsk-track-help, .tsk-text-table) { margin-inline: 0; }
.tsk-flame-plot { max-height: 420px; overflow-y: auto; overflow-x: hidden; }
.tsk-flame [hidden] { display: none !important; }
.tsk-flame canvas { display: block; }
.tsk-flame-plot canvas { cursor: pointer; }
.tsk-flame-said { min-height: 1.45em; margin: 4px 0; }
.tsk-flame-time canvas { cursor: col-resize; touch-action: none; }
.tsk-flame-chosen, .tsk-flame-note { color: var(--tsk-faint); }
.tsk-flame > .tsk-flame-note { padding: 0 12px 6px; }
.tsk-flame-time { margin-top: 6px; }
.tsk-flame table { border-collapse: collapse; }
.tsk-flame-table { max-height: 300px; overflow: auto; }
.tsk-flame :is(th, td, caption) { padding: 1px 12px 1px 0; text-align: left; color: var(--tsk-ink); }
.tsk-flame-source { margin: 4px 0 8px; }
.tsk-flame pre { margin: 0; font: 11.5px/1.5 var(--tsk-code); color: inherit; background: none; padding: 0; }
`;
