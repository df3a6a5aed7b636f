/** How findings look; apart, for pages without a kernel do not have them. In a brief dashboard they are one line. */

export const FINDINGS_CSS = `
.tsk-findings { margin: 8px 12px 0; }
.tsk-findings-path { margin: 6px 12px 0; overflow-wrap: anywhere; }
.tsk-findings-head { color: var(--tsk-faint); }
.tsk-findings-fold { display: none; }
.tsk-findings ul {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 8px;
  margin: 4px 0 0; padding: 0; list-style: none;
}
.tsk-findings li {
  min-width: 0; padding: 6px 10px; border: 1px solid var(--tsk-line); border-inline-start: 3px solid var(--tsk-line); border-radius: 4px;
  overflow-wrap: anywhere; cursor: pointer;
}
.tsk-findings li:hover, .tsk-findings li[data-lit='true'] { border-color: var(--tsk-accent); }
.tsk-findings li[data-lit='true'] { background: color-mix(in srgb, var(--tsk-accent) 8%, transparent); }
.tsk-findings :is(.tsk-findings-fold, li > button) { height: auto; padding: 0; border: 0; background: none; color: var(--tsk-ink); font: inherit; text-align: start; cursor: pointer; }
.tsk-findings li[data-lit] > button { font-weight: 600; }
.tsk-findings button:focus-visible { outline: 2px solid var(--tsk-accent); outline-offset: 2px; }
.tsk-findings-worth, .tsk-findings-advice { color: var(--tsk-faint); }
.tsk-findings li p { margin: 2px 0 0; }
.tsk-findings code { font: 11.5px/1.5 var(--tsk-code); color: var(--tsk-ink); background: none; }
.tsk-dashboard[data-compact] .tsk-findings { display: none; }
.tsk-dashboard[data-brief] .tsk-gantt-legend:has(~ .tsk-findings) { max-height: 24px; }
.tsk-dashboard[data-brief] .tsk-findings { margin-top: 0; padding-inline: 6px; }
.tsk-dashboard[data-brief] .tsk-findings-fold { display: block; max-width: 100%; height: 22px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tsk-dashboard[data-brief] .tsk-findings-fold::before { content: '▸ '; }
.tsk-dashboard[data-brief] .tsk-findings-fold[aria-expanded='true']::before { content: '▾ '; }
.tsk-dashboard[data-brief] .tsk-findings-head, .tsk-dashboard[data-brief] .tsk-findings[data-folded='true'] ul { display: none; }
`;
