/** The progress chart's own rules; colours and fonts are those that all charts share. */

export const PROGRESS_CSS = `
.tsk-progress-tools { display: contents; }
.tsk-progress {
  --tsk-track: var(--jp-layout-color2, #eef0f3);
  --tsk-success: #2e7d32;
  --tsk-warn: #a85400;
  --tsk-stripe: color-mix(in srgb, var(--tsk-paper) 65%, transparent);
  position: relative;
  container-type: inline-size;
  padding: 8px 12px;
  line-height: 20px;
  overflow-wrap: anywhere;
}
.tsk-progress.tsk-dark {
  --tsk-track: var(--jp-layout-color2, #2b323b);
  --tsk-success: #66bb6a;
  --tsk-warn: #ffb74d;
}
.tsk-progress [hidden] { display: none; }
.tsk-progress-head, .tsk-progress-meta { display: flex; flex-wrap: wrap; gap: 2px 16px; }
.tsk-progress-state { display: flex; align-items: center; gap: 6px; font-weight: 600; }
.tsk-progress-state svg { width: 16px; height: 16px; flex: none; fill: none; stroke: currentColor; stroke-width: 2; }
.tsk-progress[data-state='waiting'] .tsk-progress-state svg { color: var(--tsk-faint); }
.tsk-progress[data-state='running'] .tsk-progress-state svg { color: var(--tsk-accent); }
.tsk-progress[data-state='finished'] .tsk-progress-state svg { color: var(--tsk-success); }
.tsk-progress[data-state='erred'] .tsk-progress-state svg { color: var(--tsk-error); }
.tsk-progress[data-state='interrupted'] .tsk-progress-state svg { color: var(--tsk-warn); }
.tsk-progress-held { color: var(--tsk-warn); }
.tsk-progress-head { align-items: center; justify-content: flex-end; row-gap: 4px; }
.tsk-progress-count { margin-inline-end: auto; }
.tsk-progress .tsk-notice { padding: 0; }
.tsk-progress-percent { margin-inline-start: auto; font-weight: 600; }
.tsk-progress-bar {
  display: flex;
  overflow: hidden;
  height: 12px;
  margin: 4px 0;
  border: 1px solid var(--tsk-line);
  border-radius: 2px;
  background: var(--tsk-track);
}
.tsk-progress-row .tsk-progress-bar { height: 10px; margin: 0; }
.tsk-segment { flex: none; height: 100%; --tsk-fill: var(--tsk-prefix, var(--tsk-accent)); forced-color-adjust: none; }
.tsk-segment.tsk-some { min-width: 3px; }
.tsk-segment.tsk-finished { background: var(--tsk-fill); }
.tsk-segment.tsk-running {
  background: repeating-linear-gradient(135deg, var(--tsk-stripe) 0 3px, transparent 3px 6px), var(--tsk-fill);
}
.tsk-segment.tsk-erred { background: repeating-linear-gradient(135deg, var(--tsk-error) 0 2px, #2a0000 2px 4px); }
.tsk-segment.tsk-interrupted { background: repeating-linear-gradient(0deg, var(--tsk-error) 0 2px, #2a0000 2px 4px); }
.tsk-progress-meta { align-items: baseline; color: var(--tsk-faint); }
.tsk-progress-meta .tsk-key { display: inline-block; width: 10px; height: 10px; margin-inline-end: 5px; border-radius: 1px; }
.tsk-progress-stuck, .tsk-progress-row.tsk-stuck .tsk-progress-number { color: var(--tsk-warn); font-weight: 600; }
.tsk-progress-error { color: var(--tsk-ink); border-inline-start: 3px solid var(--tsk-error); padding-inline-start: 8px; margin-top: 4px; }
.tsk-progress-errors { border-inline-start: 3px solid var(--tsk-error); padding-inline-start: 8px; margin-top: 4px; }
.tsk-progress-errors ul { margin: 0; padding: 0; list-style: none; max-height: 240px; overflow: auto; }
.tsk-progress-rows {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));
  gap: 2px 24px;
  margin: 6px 0 0;
  padding: 0;
  list-style: none;
}
.tsk-progress-row { display: grid; grid-template-columns: 10px minmax(8ch, 3fr) minmax(16px, 2fr) auto; align-items: center; gap: 8px; }
.tsk-swatch { width: 10px; height: 10px; border-radius: 1px; forced-color-adjust: none; }
.tsk-progress-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-progress-number { color: var(--tsk-faint); text-align: end; min-width: 9ch; }
.tsk-progress .tsk-button {
  height: auto;
  padding: 2px 8px;
  border: 1px solid var(--tsk-line);
  border-radius: 2px;
  background: none;
  color: var(--tsk-ink);
  font: inherit;
  line-height: 16px;
  cursor: pointer;
}
.tsk-progress .tsk-button:hover { background: var(--tsk-track); }
.tsk-progress .tsk-button:disabled { color: var(--tsk-faint); cursor: default; }
.tsk-progress .tsk-button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 1px; }
.tsk-progress .tsk-button[aria-pressed='true'] { border-color: var(--tsk-accent); box-shadow: inset 0 0 0 1px var(--tsk-accent); }
.tsk-progress .tsk-progress-latest, .tsk-progress .tsk-progress-computes, .tsk-progress-runs .tsk-button { padding: 0 6px; }
.tsk-progress-runs { margin: 0; padding: 0; list-style: none; }
.tsk-progress-runs.tsk-many { flex: 1 0 100%; align-self: start; min-width: 0; margin-top: 4px; max-height: 240px; overflow: auto; }
.tsk-progress-runs.tsk-many li { display: grid; grid-template-columns: minmax(min-content, max-content) 1fr auto; align-items: baseline; gap: 0 10px; padding: 2px 2px 2px 6px; border-inline-start: 3px solid transparent; }
.tsk-progress-runs li[aria-current] { border-inline-start-color: var(--tsk-accent); background: color-mix(in srgb, var(--tsk-accent) 10%, transparent); }
.tsk-progress-runs li > span { color: var(--tsk-faint); }
.tsk-progress-more { margin: 4px 0 0; }
.tsk-progress-stop { min-width: 76px; }
.tsk-progress-question { margin: 4px 0; padding: 4px 8px; border: 1px solid var(--tsk-warn); border-radius: 2px; }
.tsk-progress-question p { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 2px 12px; margin: 2px 0; }
.tsk-progress-note { color: var(--tsk-ink); }
@container (max-width: 400px) {
  .tsk-progress-head { column-gap: 8px; }
  .tsk-progress-state { margin-inline-end: auto; }
  .tsk-progress-count { order: 1; flex: 1 1 calc(100% - 60px); }
  .tsk-progress-percent { order: 1; }
  .tsk-progress-runs.tsk-many li > span { grid-area: 2 / 1 / 3 / -1; }
  .tsk-progress-runs.tsk-many .tsk-progress-choose { grid-area: 1 / 3; }
}
@media (max-width: 480px) {
  .tsk-progress { padding-inline: 8px; }
}
@media (prefers-reduced-motion: no-preference) {
  .tsk-progress-bar > .tsk-segment { transition: width 120ms linear; }
}
.tsk-progress-comparison { padding: 4px 12px; }
.tsk-progress-comparison iframe {
  display: block; width: 100%; height: 420px; margin-top: 4px; resize: vertical;
  border: 1px solid var(--tsk-line); color-scheme: light;
}
.tsk-dark .tsk-progress-comparison iframe { color-scheme: dark; }
`;
