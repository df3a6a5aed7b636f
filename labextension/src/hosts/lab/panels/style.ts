/** How panels look around their charts. */

export const PANEL_CSS = `
.tsk-panel {
  display: flex; flex-direction: column; min-width: 0; overflow: hidden;
  background: var(--jp-layout-color0); color: var(--jp-ui-font-color1);
  font: 12px/1.45 var(--jp-ui-font-family); outline: none;
}
.tsk-panel-head {
  display: flex; align-items: center; gap: 4px; flex: none; min-height: 28px; padding: 0 4px 0 12px;
  border-bottom: 1px solid var(--jp-border-color2); background: var(--jp-layout-color1);
}
.tsk-panel-name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; }
.tsk-panel button {
  display: inline-flex; align-items: center; justify-content: center; gap: 4px;
  min-width: 24px; height: 24px; padding: 0 4px;
  border: 1px solid transparent; border-radius: 3px; background: none; color: inherit; font: inherit; cursor: pointer;
}
.tsk-panel button[hidden], .tsk-panel-note[hidden] { display: none; }
.tsk-panel button:hover { background: var(--jp-layout-color2); }
.tsk-panel button:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -1px; }
.tsk-panel-pin[aria-pressed='true'] {
  border-color: var(--jp-brand-color1); background: color-mix(in srgb, var(--jp-brand-color1) 16%, transparent);
}
.tsk-panel-note { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; flex: none; padding: 6px 12px; }
.tsk-panel-note > span { overflow-wrap: anywhere; }
.tsk-panel .tsk-panel-load { padding: 0 10px; border-color: var(--jp-border-color1); background: var(--jp-layout-color1); }
.tsk-panel .tsk-panel-load:disabled { color: var(--jp-ui-font-color2); cursor: default; }
.tsk-panel-body { flex: 1; min-height: 0; overflow: auto; }
`;
