/** A small mark at a cell's input: how its Dask computes stand. It is part of the page, never of the notebook. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { makeIcon, setIcon } from '../../../charts/progress/icons';
import { element, setText } from '../../../charts/ui/dom';
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

export class Badge {
  readonly el: HTMLElement;
  readonly #icon = makeIcon();
  readonly #text = element('span');
  readonly #trans: TranslationBundle;

  constructor(trans: TranslationBundle) {
    this.#trans = trans;
    this.el = element('div', { class: 'tsk-cell-badge' }, element('span', {}, this.#icon, this.#text));
  }

  /** Stand at the cell's input and say how it is; null, or a cell that has no input yet: nowhere. */
  show(cell: HTMLElement, execution: Execution | null): void {
    const place = execution === null ? null : cell.querySelector(':scope > .jp-Cell-inputWrapper');
    if (execution === null || place === null) {
      this.el.remove();
      return;
    }
    this.el.dataset.status = execution.status;
    setIcon(this.#icon, execution.status);
    setText(this.#text, badgeText(execution, this.#trans));
    this.el.title = badgeTitle(execution, this.#trans);
    if (this.el.parentElement !== place) {
      adoptStyles(cell, CSS);
      place.append(this.el);
    }
  }
}

export function badgeText({ status, elapsedS }: Execution, trans: TranslationBundle): string {
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

export function badgeTitle({ nRuns, nTasks }: Execution, trans: TranslationBundle): string {
  const computes = nRuns === 1 ? trans.__('1 compute') : trans.__('%1 computes', formatCount(nRuns));
  const tasks = nTasks === 1 ? trans.__('1 task') : trans.__('%1 tasks', formatCount(nTasks));
  return trans.__('%1, %2', computes, tasks);
}
