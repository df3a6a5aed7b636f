/** Rules of what comes once the first picture of the Gantt chart stands, and of what a person does with the picture. */

export const EXTRAS_CSS = `
.tsk-gantt-hint {
  position: absolute; left: 50%; top: 50%; transform: translate(-50%, -50%);
  padding: 4px 12px; border-radius: 12px; pointer-events: none; white-space: nowrap; max-width: 100%;
  overflow: hidden; text-overflow: ellipsis;
  background: var(--tsk-ink); color: var(--tsk-paper); opacity: 0.88;
}
.tsk-gantt-worker:hover { background: color-mix(in srgb, var(--tsk-ink) 10%, transparent); }
.tsk-gantt-legend button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-gantt-worker:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: -2px; }
.tsk-gantt-scroll:has(canvas:focus-visible) { outline: 2px solid var(--tsk-accent); outline-offset: -2px; border-radius: 3px; }
.tsk-gantt-legend button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: -1px; }
.tsk-gantt-legend button[aria-pressed='false'] .tsk-gantt-legend-name { text-decoration: line-through; }
.tsk-gantt-legend button[aria-pressed='false'] :is(.tsk-gantt-legend-name, .tsk-gantt-legend-count) { color: var(--tsk-faint); }
.tsk-gantt-legend button[aria-pressed='false'] .tsk-gantt-swatch { background: transparent !important; box-shadow: inset 0 0 0 2px var(--tsk-faint); }
.tsk-gantt-find { padding: 0 12px 6px; }
.tsk-gantt-find > span { color: var(--tsk-faint); }
.tsk-gantt-card, .tsk-gantt-help, .tsk-gantt-tables { margin: 8px 12px 0; }
.tsk-gantt-card { padding: 8px 10px; border: 1px solid var(--tsk-line); border-inline-start: 3px solid var(--tsk-accent); border-radius: 4px; }
.tsk-gantt-card .tsk-bar { margin-top: 6px; }
.tsk-gantt-card dl {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(230px, 100%), 1fr)); gap: 2px 16px; margin: 0;
}
.tsk-gantt-card dl > div { display: flex; gap: 8px; min-width: 0; }
.tsk-gantt-card dt { color: var(--tsk-faint); flex: none; min-width: 5.8em; }
.tsk-gantt-card dd { min-width: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.tsk-gantt-help { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 12px; }
.tsk-gantt-help dt { font: 600 11.5px/1.6 var(--tsk-code); }
.tsk-gantt-tables:not(.tsk-hidden) { overflow: auto; max-height: 420px; }
.tsk-gantt-tables:focus-visible { outline: 2px solid var(--tsk-accent); }
.tsk-gantt-tables table { border-collapse: collapse; margin: 0 0 10px; font: inherit; color: inherit; }
.tsk-gantt-tables caption { text-align: start; padding: 2px 0; }
.tsk-gantt-tables :is(th, td) { padding: 2px 12px 2px 0; text-align: end; border-bottom: 1px solid var(--tsk-line); }
.tsk-gantt-tables :is(th, td):first-child { text-align: start; }
.tsk-gantt-tip {
  position: absolute; z-index: 10; pointer-events: none;
  width: max-content; max-width: min(380px, calc(100% - 8px));
  padding: 8px 10px; border: 1px solid var(--tsk-line); border-radius: 4px;
  background: var(--tsk-raised); box-shadow: 0 2px 10px rgb(0 0 0 / 22%);
}
.tsk-gantt-tip-key {
  margin: 0 0 5px; font: 600 11.5px/1.4 var(--tsk-code);
  overflow-wrap: anywhere; max-height: 8.4em; overflow: hidden; unicode-bidi: isolate;
}
.tsk-gantt-tip dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 1px 12px; margin: 0; }
.tsk-gantt-tip dl > div { display: contents; }
.tsk-gantt-tip dt { color: var(--tsk-faint); }
.tsk-gantt-tip dd { overflow-wrap: anywhere; unicode-bidi: isolate; }
:is(.tsk-gantt-tip, .tsk-gantt-card) dd .tsk-gantt-swatch { margin-inline-end: 6px; vertical-align: -1px; }
.tsk-gantt-tip-note { margin: 5px 0 0; color: var(--tsk-faint); }
`;
