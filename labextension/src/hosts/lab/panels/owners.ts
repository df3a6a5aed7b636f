/** What has a kernel that a panel can look at: the open notebooks and consoles, and which of them is in use. */
import type { ILabShell } from '@jupyterlab/application';
import type { ISessionContext, IWidgetTracker } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

/** An open notebook or console. */
export interface Owner {
  readonly widget: Widget;
  readonly session: ISessionContext;
}

export type OwnerWidget = Widget & { readonly sessionContext: ISessionContext };
export type OwnerTracker = IWidgetTracker<OwnerWidget>;

export class Owners {
  /**
   * @param trackers of notebooks and of consoles, as far as there are any
   * @param shell tells of switches between notebooks and consoles; trackers tell of those among their own
   */
  constructor(
    private readonly _trackers: readonly OwnerTracker[],
    private readonly _shell: ILabShell | null
  ) {
    for (const tracker of _trackers) {
      tracker.forEach(widget => {
        this._add(widget);
      });
      tracker.widgetAdded.connect((_, widget) => {
        this._add(widget);
        this._settle();
        // The shell may have told before that it is in use.
        this._activate((_shell ?? tracker).currentWidget);
      });
      tracker.currentChanged.connect((_, widget) => {
        this._activate(widget);
      });
    }
    _shell?.currentChanged.connect((_, { newValue }) => {
      this._activate(newValue);
    });
    this._activate(_shell?.currentWidget ?? null);
    this._settle();
  }

  /** The notebook or console that was in use last and is still open. */
  get current(): Owner | null {
    return this._current;
  }

  /** Another one is in use, or one was opened or closed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The open notebook or console whose session has this path. */
  byPath(path: string): Owner | null {
    return this._open.find(({ session }) => session.path === path) ?? null;
  }

  /** An open notebook or console on this kernel; the one in use comes first. */
  byKernel(kernelId: string): Owner | null {
    const has = (owner: Owner | null): boolean => kernelOf(owner)?.id === kernelId;
    return has(this._current) ? this._current : (this._open.find(has) ?? null);
  }

  private _add(widget: OwnerWidget): void {
    this._open.push({ widget, session: widget.sessionContext });
    widget.disposed.connect(() => {
      this._open = this._open.filter(owner => owner.widget !== widget);
      if (this._current?.widget === widget) {
        this._current = null;
      }
      this._settle();
    });
  }

  private _activate(widget: Widget | null): void {
    const owner = this._open.find(other => other.widget === widget);
    // A tracker may tell of a notebook that was opened behind the one in use.
    const isBehind = this._shell !== null && this._shell.currentWidget !== widget && this._current !== null;
    if (owner !== undefined && owner !== this._current && !isBehind) {
      this._current = owner;
      this._changed.emit();
    }
  }

  private _settle(): void {
    if (this._current === null) {
      const last = this._trackers.map(tracker => this._open.find(owner => owner.widget === tracker.currentWidget));
      this._current = last.find(owner => owner !== undefined) ?? this._open.at(-1) ?? null;
    }
    this._changed.emit();
  }

  private _open: Owner[] = [];
  private _current: Owner | null = null;
  private readonly _changed = new Signal<this, void>(this);
}

export function kernelOf(owner: Owner | null): Kernel.IModel | null {
  return owner?.session.session?.kernel?.model ?? null;
}
