/** What one panel looks at: the kernel of the notebook in use, or of the one it is pinned to. */
import type { Kernel, Session } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';

import { type Owner, type Owners, kernelOf } from './owners';

/** Which notebook or console a panel stays with, also while that is closed. */
export interface Pin {
  /** Of its session, which follows renames; empty for a kernel without one. */
  readonly path: string;
  /** The kernel it had last; empty: none. */
  readonly kernelId: string;
}

export type TargetState =
  /** No notebook or console is open. */
  | { readonly kind: 'none' }
  /** The one it is pinned to is closed, and its kernel is gone. */
  | { readonly kind: 'closed'; readonly name: string }
  | { readonly kind: 'starting'; readonly name: string }
  /** It has no kernel. */
  | { readonly kind: 'no-kernel'; readonly name: string }
  /** `open` says whether the notebook is; its kernel may outlive it. */
  | { readonly kind: 'kernel'; readonly name: string; readonly model: Kernel.IModel; readonly open: boolean };

export class PanelTarget {
  constructor(
    private readonly _owners: Owners,
    private readonly _sessions: Session.IManager,
    private readonly _kernels: Kernel.IManager
  ) {
    _owners.changed.connect(this._look);
    _sessions.runningChanged.connect(this._look);
    _kernels.runningChanged.connect(this._look);
    this._look();
  }

  get state(): TargetState {
    return this._state;
  }

  get pin(): Pin | null {
    return this._pin;
  }

  /** The state or the pin. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Stay with this, whether it is open or not; null: follow the notebook in use. */
  setPin(pin: Pin | null): void {
    this._pin = pin;
    // What it was bound to before is no longer what it looks at.
    this._watch(null);
    this._look();
    this._changed.emit();
  }

  /** Stay with what is looked at now, or follow the notebook in use again. */
  setPinned(pinned: boolean): void {
    if (pinned !== (this._pin !== null)) {
      this.setPin(pinned && this._owner !== null ? pinOf(this._owner) : null);
    }
  }

  dispose(): void {
    this._watch(null);
    this._owners.changed.disconnect(this._look);
    this._sessions.runningChanged.disconnect(this._look);
    this._kernels.runningChanged.disconnect(this._look);
    Signal.clearData(this);
  }

  private readonly _look = (): void => {
    const owner = this._pin === null ? this._owners.current : this._findPinned(this._pin);
    this._watch(owner);
    const pin = owner !== null && this._pin !== null ? pinOf(owner) : this._pin;
    const state = owner === null ? this._withoutOwner() : stateOf(owner);
    if (!isSame({ state, pin }, { state: this._state, pin: this._pin })) {
      this._state = state;
      this._pin = pin;
      this._changed.emit();
    }
  };

  private _findPinned({ path, kernelId }: Pin): Owner | null {
    // What was bound before is bound still when it is renamed.
    const owner = this._owner?.widget.isDisposed === false ? this._owner : null;
    return owner ?? this._owners.byPath(path) ?? (path === '' ? this._owners.byKernel(kernelId) : null);
  }

  private _withoutOwner(): TargetState {
    if (this._pin === null) {
      return { kind: 'none' };
    }
    const { path, kernelId } = this._pin;
    const name = nameOf(path);
    const session = [...this._sessions.running()].find(other => other.path === path);
    const model = session?.kernel ?? [...this._kernels.running()].find(({ id }) => id === kernelId);
    return model === undefined ? { kind: 'closed', name } : { kind: 'kernel', name, model, open: false };
  }

  private _watch(owner: Owner | null): void {
    if (owner === this._owner) {
      return;
    }
    if (this._owner !== null) {
      const { session, widget } = this._owner;
      session.kernelChanged.disconnect(this._look);
      session.sessionChanged.disconnect(this._look);
      session.statusChanged.disconnect(this._look);
      session.propertyChanged.disconnect(this._look);
      widget.title.changed.disconnect(this._look);
    }
    this._owner = owner;
    if (owner !== null) {
      const { session, widget } = owner;
      session.kernelChanged.connect(this._look);
      session.sessionChanged.connect(this._look);
      session.statusChanged.connect(this._look);
      session.propertyChanged.connect(this._look);
      widget.title.changed.connect(this._look);
    }
  }

  private _pin: Pin | null = null;
  private _owner: Owner | null = null;
  private _state: TargetState = { kind: 'none' };
  private readonly _changed = new Signal<this, void>(this);
}

function stateOf({ widget, session }: Owner): TargetState {
  const name = widget.title.label;
  const model = session.session?.kernel?.model;
  if (model !== undefined) {
    return { kind: 'kernel', name, model, open: true };
  }
  return { kind: session.isReady || session.hasNoKernel ? 'no-kernel' : 'starting', name };
}

function pinOf(owner: Owner): Pin {
  return { path: owner.session.path, kernelId: kernelOf(owner)?.id ?? '' };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

interface Seen {
  readonly state: TargetState;
  readonly pin: Pin | null;
}

function isSame(a: Seen, b: Seen): boolean {
  return JSON.stringify([text(a.state), a.pin]) === JSON.stringify([text(b.state), b.pin]);
}

/** A kernel's model has counters that change all the time. */
function text(state: TargetState): unknown {
  return state.kind === 'kernel' ? { ...state, model: state.model.id } : state;
}
