/** A small button at a cell's input: how its Dask computes stand. It is part of the page, never of the notebook. */

import { element, keepKeys } from '../../../charts/ui/dom';
import { inputOf } from '../../private-names';
import type { Words } from './badge-mark';
import type { Mark } from './executions';

export class Badge {
  readonly el = element('div', { class: 'tsk-cell-badge' });
  private _mark: Mark | null = null;
  /** What was last said while its kernel lived. */
  private _words: Words = { said: '', facts: '' };

  /** @param _act is called when a person presses it */
  constructor(
    private readonly _act: () => void,
    signal: AbortSignal
  ) {
    keepKeys(this.el, signal);
  }

  focus(): void {
    this.el.querySelector('button')?.focus();
  }

  /** Stand at the cell's input and say how it is; null, or a cell that has no input yet: nowhere. */
  show(cell: HTMLElement, mark: Mark | null): void {
    const place = mark === null ? null : inputOf(cell);
    this._mark = place === null ? null : mark;
    if (place === null) {
      this.el.remove();
      return;
    }
    if (this.el.parentElement !== place) {
      place.append(this.el);
    }
    void import('./badge-mark').then(({ drawBadge, wordsOf }) => {
      if (this._mark !== null) {
        const { store } = this._mark;
        this._words = store === null ? this._words : wordsOf({ ...this._mark, store });
        drawBadge(this.el, this._mark, this._words, this._act);
      }
    });
  }
}
