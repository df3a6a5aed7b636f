/** The parts of a panel: whose kernel it shows, what is wrong with that, and where the chart goes. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { element, setPressed, setText } from '../../../charts/ui/dom';
import { adoptStyles } from '../../../charts/ui/styles';
import { pinIcon } from './icons';
import type { Status } from './status';
import { PANEL_CSS } from './style';

export interface FaceActions {
  setPinned(pinned: boolean): void;
  load(): void;
}

/** What is shown of the panel's kernel. */
export interface Shown extends Status {
  /** Of the notebook or console; empty: there is none. */
  readonly name: string;
  readonly pinned: boolean;
  readonly mayPin: boolean;
  readonly loading: boolean;
}

export class Face {
  readonly body = element('div', { class: 'tsk-panel-body' });
  private readonly _name = element('span', { class: 'tsk-panel-name' });
  private readonly _note = element('div', { class: 'tsk-panel-note' });
  private readonly _text = element('span', { role: 'status' });
  private readonly _pin: HTMLButtonElement;
  private readonly _load: HTMLButtonElement;

  constructor(
    root: HTMLElement,
    actions: FaceActions,
    private readonly _trans: TranslationBundle
  ) {
    adoptStyles(document.body, PANEL_CSS);
    const pinLabel = this._trans.__('Pin to this notebook');
    this._pin = element('button', { type: 'button', class: 'tsk-panel-pin', title: pinLabel, 'aria-label': pinLabel });
    pinIcon.element({ container: this._pin, width: '14px', height: '14px' });
    this._load = element('button', { type: 'button', class: 'tsk-panel-load' });
    this._pin.addEventListener('click', () => {
      actions.setPinned(this._pin.getAttribute('aria-pressed') !== 'true');
    });
    this._load.addEventListener('click', () => {
      actions.load();
    });
    this._note.append(this._text, this._load);
    root.classList.add('tsk-panel');
    root.append(element('div', { class: 'tsk-panel-head' }, this._name, this._pin), this._note, this.body);
  }

  show({ name, text, mayLoad, loading, pinned, mayPin }: Shown): void {
    const { _trans: trans } = this;
    setText(this._name, name);
    this._name.title = name;
    setText(this._text, text ?? '');
    this._note.hidden = text === null && !mayLoad;
    setPressed(this._pin, pinned);
    this._pin.hidden = !mayPin && !pinned;
    setText(this._load, loading ? trans.__('Loading, once the kernel is free') : trans.__('Load taskscope in this kernel'));
    this._load.hidden = !mayLoad;
    this._load.disabled = loading;
  }
}
