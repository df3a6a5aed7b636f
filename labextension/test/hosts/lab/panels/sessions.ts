/** Notebooks and consoles with what is asked of them; @lumino/widgets wants more of a page than jsdom has. */
import type { Kernel, Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { OwnerTracker } from '../../../../src/hosts/lab/panels/owners';

export class FakeSession {
  readonly kernelChanged = new Signal<this, void>(this);
  readonly sessionChanged = new Signal<this, void>(this);
  readonly statusChanged = new Signal<this, void>(this);
  readonly propertyChanged = new Signal<this, void>(this);
  isReady = true;
  hasNoKernel = false;
  session: { readonly kernel: { readonly id: string; readonly model: Kernel.IModel } } | null = null;

  constructor(public path: string) {}

  /** Give it this kernel; null: none. */
  setKernel(id: string | null): void {
    this.session = id === null ? null : { kernel: { id, model: modelOf(id) } };
    this.kernelChanged.emit();
  }
}

export function modelOf(id: string): Kernel.IModel {
  return { id, name: 'python3' };
}

export class FakeTitle {
  readonly changed = new Signal<this, void>(this);
  label = '';
}

/** An open notebook. */
export class FakeOwner {
  readonly disposed = new Signal<this, void>(this);
  readonly title = new FakeTitle();
  readonly sessionContext: FakeSession;
  isDisposed = false;

  constructor(path: string, kernelId: string | null) {
    this.title.label = path;
    this.sessionContext = new FakeSession(path);
    this.sessionContext.setKernel(kernelId);
  }

  rename(path: string): void {
    this.sessionContext.path = path;
    this.title.label = path;
    this.title.changed.emit();
  }

  dispose(): void {
    this.isDisposed = true;
    this.disposed.emit();
  }

  get widget(): Widget {
    return this as unknown as Widget;
  }
}

/** Where notebooks open, and which of them is in use. */
export class FakeTracker {
  readonly widgetAdded = new Signal<this, FakeOwner>(this);
  readonly currentChanged = new Signal<this, FakeOwner | null>(this);
  currentWidget: FakeOwner | null = null;
  private readonly _widgets: FakeOwner[] = [];

  forEach(visit: (widget: FakeOwner) => void): void {
    this._widgets.forEach(visit);
  }

  open(path: string, kernelId: string | null): FakeOwner {
    const widget = new FakeOwner(path, kernelId);
    this._widgets.push(widget);
    this.currentWidget = widget;
    this.widgetAdded.emit(widget);
    this.currentChanged.emit(widget);
    return widget;
  }

  use(widget: FakeOwner): void {
    this.currentWidget = widget;
    this.currentChanged.emit(widget);
  }

  get tracker(): OwnerTracker {
    return this as unknown as OwnerTracker;
  }
}

/** What runs on the server. */
export class FakeRunning<Model> {
  readonly runningChanged = new Signal<this, void>(this);
  models: Model[] = [];

  running(): IterableIterator<Model> {
    return this.models.values();
  }

  set(models: Model[]): void {
    this.models = models;
    this.runningChanged.emit();
  }
}

export const sessionsOf = (running: FakeRunning<Session.IModel>): Session.IManager => running as unknown as Session.IManager;
export const kernelsOf = (running: FakeRunning<Kernel.IModel>): Kernel.IManager => running as unknown as Kernel.IManager;
