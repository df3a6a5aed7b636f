/** The flame graph's own rules. */

export const FLAME_CSS = `
.tsk-flame { padding: 8px 12px; overflow-wrap: anywhere; }
.tsk-flame-head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin-bottom: 6px; }
.tsk-flame-head :is(select, input, button) {
  height: 24px; max-width: 24ch; padding: 0 6px; border: 1px solid var(--tsk-line); border-radius: 3px;
  background: var(--tsk-raised); color: var(--tsk-ink); font: inherit;
}
.tsk-flame-head button:disabled { color: var(--tsk-faint); }
.tsk-flame :focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-flame-sum { flex: 1 1 16ch; min-width: 0; color: var(--tsk-faint); }
.tsk-flame-plot { max-height: 420px; overflow-y: auto; overflow-x: hidden; }
.tsk-flame [hidden] { display: none !important; }
.tsk-flame canvas { display: block; }
:is(.tsk-flame-plot canvas, .tsk-flame-head button) { cursor: pointer; }
.tsk-flame-said { min-height: 1.45em; margin: 4px 0; }
.tsk-flame-time canvas { cursor: col-resize; touch-action: none; }
.tsk-flame-chosen, .tsk-flame-note { color: var(--tsk-faint); }
.tsk-flame-help:not([hidden]) { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 12px; margin: 8px 0; }
.tsk-flame-help dt { font: 600 11.5px/1.6 var(--tsk-code); }
.tsk-flame-help dd { margin: 0; }
.tsk-flame table { border-collapse: collapse; }
.tsk-flame-table { max-height: 300px; overflow: auto; }
.tsk-flame :is(th, td, caption) { padding: 1px 12px 1px 0; text-align: left; color: var(--tsk-ink); }
.tsk-flame-source { margin: 4px 0 8px; }
.tsk-flame pre { margin: 0; font: 11.5px/1.5 var(--tsk-code); color: inherit; background: none; padding: 0; }
`;
