/** A small mark at a cell's input: how its Dask computes stand. It is part of the page, never of the notebook. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { element } from '../../../charts/ui/dom';
import { inputOf } from '../../private-names';
import type { Execution } from './executions';

export class Badge {
  readonly el = element('div', { class: 'tsk-cell-badge' });
  private _execution: Execution | null = null;

  constructor(private readonly _trans: TranslationBundle) {}

  /** Stand at the cell's input and say how it is; null, or a cell that has no input yet: nowhere. */
  show(cell: HTMLElement, execution: Execution | null): void {
    const place = execution === null ? null : inputOf(cell);
    this._execution = place === null ? null : execution;
    if (place === null) {
      this.el.remove();
      return;
    }
    if (this.el.parentElement !== place) {
      place.append(this.el);
    }
    void import('./badge-mark').then(({ drawBadge }) => {
      if (this._execution !== null) {
        drawBadge(this.el, this._execution, this._trans);
      }
    });
  }
}
