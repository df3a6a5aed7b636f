/** What a badge says; loaded with the first compute, not when JupyterLab starts. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { StateIcon } from '../../../charts/progress/parts';
import { render } from '../../../charts/ui/render';
import { adoptStyles } from '../../../charts/ui/styles';
import { formatCount, formatDuration } from '../../../lib/format';
import type { Execution } from './executions';

// It takes no room, or the output would move whenever it comes and goes; it stands between the cell's toolbar and
// the next cell.
const CSS = `
.tsk-cell-badge { position: relative; z-index: 1; align-self: flex-end; width: 0; height: 0; }
.tsk-cell-badge > span {
  position: absolute;
  inset-inline-end: 12px;
  bottom: -10px;
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
}
.tsk-cell-badge svg { width: 10px; height: 10px; flex: none; fill: none; stroke: currentColor; stroke-width: 2; }
.tsk-cell-badge[data-status='running'] svg { color: var(--jp-brand-color1, #1565c0); }
.tsk-cell-badge[data-status='finished'] svg { color: var(--jp-success-color1, #2e7d32); }
.tsk-cell-badge[data-status='erred'] svg { color: var(--jp-error-color1, #c00000); }
.tsk-cell-badge[data-status='interrupted'] svg { color: var(--jp-warn-color1, #a85400); }
`;

export function drawBadge(el: HTMLElement, execution: Execution, trans: TranslationBundle): void {
  adoptStyles(el, CSS);
  el.dataset.status = execution.status;
  el.title = badgeTitle(execution, trans);
  render(<span><StateIcon state={execution.status} /><span>{badgeText(execution, trans)}</span></span>, el);
}

function badgeText({ status, elapsedS }: Execution, trans: TranslationBundle): string {
  switch (status) {
    case 'running':
      return trans.__('Dask: running');
    case 'finished':
      return trans.__('Dask: finished in %1', formatDuration(elapsedS));
    case 'erred':
      return trans.__('Dask: failed');
    case 'interrupted':
      return trans.__('Dask: interrupted');
  }
}

function badgeTitle({ nRuns, nTasks }: Execution, trans: TranslationBundle): string {
  const computes = trans._n('%2 compute', '%2 computes', nRuns, formatCount(nRuns));
  const tasks = trans._n('%2 task', '%2 tasks', nTasks, formatCount(nTasks));
  return trans.__('%1, %2', computes, tasks);
}
