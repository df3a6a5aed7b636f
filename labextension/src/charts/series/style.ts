/** The rules that plots over time share; colours and fonts are those of all charts. */

export const SERIES_CSS = `
.tsk-series { position: relative; padding: 6px 0 8px; }
.tsk-series [hidden] { display: none !important; }
.tsk-series-head {
  display: flex; flex-wrap: wrap; align-items: flex-start; gap: 6px 28px;
  padding: 0 12px 4px; min-height: 26px;
}
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
.tsk-series button {
  display: inline-flex; align-items: center; justify-content: center;
  min-width: 26px; height: 24px; padding: 0 8px; max-width: 24ch;
  border: 1px solid var(--tsk-line); border-radius: 3px;
  background: transparent; color: var(--tsk-ink); font: inherit; cursor: pointer;
}
.tsk-series button span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-series button:hover { background: color-mix(in srgb, var(--tsk-ink) 8%, transparent); }
.tsk-series button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-series button[aria-pressed='true'] {
  border-color: var(--tsk-accent);
  background: color-mix(in srgb, var(--tsk-accent) 16%, transparent);
  font-weight: 600;
}
@media (max-width: 480px) {
  .tsk-series-head, .tsk-series-foot { padding-inline: 8px; }
}
`;
