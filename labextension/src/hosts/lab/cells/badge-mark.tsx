/** What a badge says; loaded with the first compute, not when JupyterLab starts. */

import { trans } from '../../../lib/translate';
import { layoutOf } from '../../../charts/progress/layout';
import { StateIcon } from '../../../charts/progress/parts';
import { shortText } from '../../../charts/progress/words';
import { render } from '../../../charts/ui/render';
import { adoptStyles } from '../../../charts/ui/theme';
import { formatCount, printable } from '../../../lib/format';
import type { TaskStore } from '../../../store';
import type { Execution, Mark } from './executions';

// It takes no room, or the output would move whenever it comes and goes; it stands below the last line of code and above the
// border of the next cell, which JupyterLab gives a z-index of 1 while it has the focus.
const CSS = `
.tsk-cell-badge { position: relative; z-index: 2; align-self: flex-end; width: 0; height: 0; }
.tsk-cell-badge > button {
  position: absolute;
  inset-inline-end: 12px;
  bottom: -9px;
  display: flex;
  align-items: center;
  gap: 4px;
  padding: 0 7px;
  border: 1px solid var(--jp-border-color1, #bdbdbd);
  border-radius: 8px;
  color: var(--jp-ui-font-color1, #1f2328);
  background: var(--jp-layout-color1, #ffffff);
  font: 10px/14px var(--jp-ui-font-family, system-ui, sans-serif);
  font-variant-numeric: tabular-nums;
  white-space: nowrap;
  cursor: pointer;
}
/* Below the last cell the notebook may end: it stands inside that cell's padding, over the toolbar of a cell of one line. */
.jp-Cell:last-child > .jp-Cell-inputWrapper .tsk-cell-badge { z-index: 20; }
.jp-Cell:last-child > .jp-Cell-inputWrapper .tsk-cell-badge > button { bottom: -4px; }
.tsk-cell-badge > button:hover { background: var(--jp-layout-color2, #eeeeee); }
.tsk-cell-badge > button:focus-visible { outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: 1px; }
.tsk-badge-state { display: flex; }
.tsk-cell-badge svg { width: 10px; height: 10px; flex: none; fill: none; stroke: currentColor; stroke-width: 2; }
.tsk-cell-badge[data-status='gone'] > button { border-style: dashed; color: var(--jp-ui-font-color2, #59636e); cursor: default; }
.tsk-cell-badge[data-status='running'] .tsk-badge-state { color: var(--jp-brand-color1, #1565c0); }
.tsk-cell-badge[data-status='finished'] .tsk-badge-state { color: var(--jp-success-color1, #2e7d32); }
.tsk-cell-badge[data-status='erred'] .tsk-badge-state { color: var(--jp-error-color1, #c00000); }
.tsk-cell-badge[data-status='interrupted'] .tsk-badge-state { color: var(--jp-ui-font-color2, inherit); }
`;

/** What a badge says, in short and in full. */
export interface Words {
  readonly said: string;
  readonly facts: string;
}

export function wordsOf({ execution, store, busy }: Mark & { readonly store: TaskStore }): Words {
  const said = shortText(layoutOf(store, new Set(execution.runs)));
  return busy === null
    ? { said, facts: countText(execution) }
    : { said: trans.__('%1 · busy machine', said), facts: `${countText(execution)}, ${printable(busy)}` };
}

export function drawBadge(el: HTMLElement, { execution, store, isOpen }: Mark, { said, facts }: Words, act: () => void): void {
  adoptStyles(el, CSS);
  const isGone = store === null;
  el.dataset.status = isGone ? 'gone' : execution.status;
  const does = isOpen === null ? trans.__('Go to its charts') : isOpen ? trans.__('Hide its charts') : trans.__('Show its charts');
  render(
    <button
      type="button" title={trans.__('%1. %2', facts, isGone ? trans.__('Its kernel is gone: run the cell again for its charts') : does)}
      aria-disabled={isGone ? true : undefined} aria-expanded={isGone ? undefined : (isOpen ?? undefined)} onClick={isGone ? undefined : act}
    >
      <span class="tsk-badge-state"><StateIcon state={execution.status} /></span>
      <span>{trans.__('Dask: %1', said)}</span>
      {!isGone && isOpen !== null && <svg viewBox="0 0 16 16" aria-hidden="true"><path d={isOpen ? 'M4 10l4 -4l4 4' : 'M4 6l4 4l4 -4'} /></svg>}
    </button>,
    el
  );
}

function countText({ nRuns, nTasks }: Execution): string {
  const computes = trans._n('%2 compute', '%2 computes', nRuns, formatCount(nRuns));
  const tasks = trans._n('%2 task', '%2 tasks', nTasks, formatCount(nTasks));
  return trans.__('%1, %2', computes, tasks);
}
