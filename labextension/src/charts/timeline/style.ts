/** The rules that all tracks share; colours and fonts are those of all charts. */

export const TIMELINE_CSS = `
.tsk-gantt, .tsk-series { position: relative; padding: 6px 0 8px; container-type: inline-size; }
.tsk-chart:is(.tsk-gantt, .tsk-series) :is(dl, dt, dd, ul, li, table, caption, th, td) { float: none; width: auto; font-weight: normal; }
.tsk-chart:is(.tsk-gantt, .tsk-series) :is(dt, dd) { display: block; margin: 0; padding: 0; }
.tsk-track-top { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; padding: 0 12px 6px; }
.tsk-track-title { font-weight: 600; }
.tsk-track-top .tsk-toolbar { margin-inline-start: auto; }
.tsk-series-head { display: flex; flex: 1 1 180px; flex-wrap: wrap; align-items: flex-start; gap: 6px 28px; min-width: 0; }
.tsk-series-foot { padding: 4px 12px 0; color: var(--tsk-faint); overflow-wrap: anywhere; }
.tsk-series-foot p { margin: 0; }
.tsk-unfold { margin-inline-start: auto; }
.tsk-unfold + .tsk-toolbar { margin-inline-start: 0; }
.tsk-chart[data-part='head'] { padding-block: 4px; }
.tsk-chart[data-part='head'] > :not(.tsk-track-top), .tsk-chart[data-part='head'] .tsk-toolbar { display: none; }
.tsk-chart[data-part='head'] .tsk-track-top { padding-bottom: 0; flex-wrap: nowrap; }
.tsk-track-plot { position: relative; }
.tsk-track-scroll { overflow: hidden auto; overscroll-behavior: auto; scrollbar-width: thin; }
.tsk-track-scroll:has(canvas:focus-visible) { outline: 2px solid var(--tsk-accent); outline-offset: -2px; border-radius: 3px; }
.tsk-track-content { position: relative; }
.tsk-track-view { position: sticky; top: 0; }
.tsk-track-view canvas { display: block; touch-action: pan-y; cursor: default; user-select: none; }
.tsk-track-view canvas:focus { outline: none; }
.tsk-series .tsk-track-view canvas { cursor: crosshair; }
.tsk-track-over { position: absolute; top: 0; overflow: hidden; pointer-events: none; }
.tsk-track-over > div { position: absolute; }
.tsk-over-cursor { background: var(--tsk-faint); opacity: 0.5; }
.tsk-over-band { border: 1px solid var(--tsk-accent); background: color-mix(in srgb, var(--tsk-accent) 18%, transparent); }
.tsk-over-box { border: 1.5px solid var(--tsk-ink); }
.tsk-track-empty {
  display: flex; align-items: center; justify-content: center;
  min-height: 96px; padding: 16px; color: var(--tsk-faint); text-align: center;
}
.tsk-track-hint {
  position: absolute; left: 50%; top: 50%; transform: translate(-50%, -50%);
  padding: 4px 12px; border-radius: 12px; pointer-events: none; white-space: nowrap; max-width: 100%;
  overflow: hidden; text-overflow: ellipsis;
  background: var(--tsk-ink); color: var(--tsk-paper); opacity: 0.88;
}
.tsk-track-help { width: min(400px, 100vw - 4px); padding: 8px 12px; }
.tsk-track-help dl { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: 2px 12px; margin: 0; }
.tsk-track-help dt { font: 600 11.5px/1.6 var(--tsk-code); }
.tsk-track-tips { position: absolute; left: 0; right: 0; top: 0; z-index: 10; pointer-events: none; }
.tsk-tip {
  position: absolute; top: 0; width: max-content; max-width: min(380px, calc(100% - 8px));
  padding: 7px 10px; border: 1px solid var(--tsk-line); border-radius: 4px;
  background: var(--tsk-raised); box-shadow: 0 2px 10px rgb(0 0 0 / 22%); overflow-wrap: anywhere;
}
.tsk-series-readout div:first-child { color: var(--tsk-faint); }
.tsk-gantt-tip-key {
  margin: 0 0 5px; font: 600 11.5px/1.4 var(--tsk-code);
  overflow-wrap: anywhere; max-height: 8.4em; overflow: hidden; unicode-bidi: isolate;
}
.tsk-gantt-tip dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 1px 12px; margin: 0; }
.tsk-gantt-tip dl > div { display: contents; }
:is(.tsk-gantt-tip, .tsk-gantt-card) dt { color: var(--tsk-faint); }
:is(.tsk-gantt-tip, .tsk-gantt-card) dd { min-width: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
:is(.tsk-gantt-tip, .tsk-gantt-card) dd .tsk-swatch { margin-inline-end: 6px; vertical-align: -1px; }
.tsk-gantt-tip-note { margin: 5px 0 0; color: var(--tsk-faint); }
@container (max-width: 520px) {
  .tsk-track-title { flex: 1 1 0; }
  .tsk-chart .tsk-track-top :is(.tsk-series-head, .tsk-gantt-state) { order: 1; flex-basis: 100%; }
}
@media (max-width: 480px) {
  .tsk-track-top, .tsk-series-foot { padding-inline: 8px; }
}
`;
