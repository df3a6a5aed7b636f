/** The rules that plots over time share; colours and fonts are those of all charts. */

export const SERIES_CSS = `
.tsk-series { position: relative; padding: 6px 0 8px; }
.tsk-series [hidden] { display: none !important; }
.tsk-series-top { display: flex; flex-wrap: wrap; gap: 4px 12px; padding: 0 12px 4px; }
.tsk-series-top .tsk-toolbar { margin-inline-start: auto; }
.tsk-series-head { display: flex; flex: 1 1 180px; flex-wrap: wrap; align-items: flex-start; gap: 6px 28px; min-width: 0; }
.tsk-series-foot { padding: 4px 12px 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-series-foot p { margin: 0; }
.tsk-series-plot { position: relative; }
.tsk-series-plot canvas { display: block; touch-action: pan-y pinch-zoom; cursor: crosshair; user-select: none; }
.tsk-series-plot canvas:focus { outline: none; }
.tsk-series-plot:has(canvas:focus-visible) { outline: 2px solid var(--tsk-accent); outline-offset: -2px; border-radius: 3px; }
.tsk-series-empty {
  display: flex; align-items: center; justify-content: center;
  min-height: 96px; padding: 16px; color: var(--tsk-faint); text-align: center;
}
.tsk-series-hint {
  position: absolute; left: 50%; top: 50%; transform: translate(-50%, -50%);
  padding: 4px 12px; border-radius: 12px; pointer-events: none; white-space: nowrap; max-width: 100%;
  overflow: hidden; text-overflow: ellipsis;
  background: var(--tsk-ink); color: var(--tsk-paper); opacity: 0.88;
}
.tsk-series-readout {
  position: absolute; z-index: 10; pointer-events: none; top: 0;
  width: max-content; max-width: min(320px, calc(100% - 8px));
  padding: 6px 9px; border: 1px solid var(--tsk-line); border-radius: 4px;
  background: var(--tsk-raised); box-shadow: 0 2px 10px rgb(0 0 0 / 22%);
  overflow-wrap: anywhere;
}
.tsk-series-readout div:first-child { color: var(--tsk-faint); }
@media (max-width: 480px) {
  .tsk-series-top, .tsk-series-foot { padding-inline: 8px; }
}
`;
