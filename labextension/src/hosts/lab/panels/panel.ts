/** A panel of JupyterLab with one chart of one kernel, mounted while it can be seen, and anew where the kernel has another recorder. */
import type { Kernel, Session } from '@jupyterlab/services';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import type { RevealCell } from '../../../charts/ui/keeping';
import { messageOf } from '../../../lib/error-message';
import { trans } from '../../../lib/translate';
import type { ICells } from '../cells/cells';
import type { Feed } from '../feed/feed';
import type { IFeeds } from '../feed/feeds';
import { type ChartName, chartOf } from './charts';
import { PanelHeader, statusOf } from './header';
import { type Memory, type PanelMemory, Views } from './memory';
import type { Owners } from './owners';
import { PanelTarget, type Pin } from './target';

export interface PanelContext {
  readonly owners: Owners;
  readonly sessions: Session.IManager;
  readonly kernels: Kernel.IManager;
  readonly feeds: IFeeds;
  readonly memory: Memory;
  /** Leads to the cells of computes. */
  readonly cells: ICells | null;
  /** Whether kernels load taskscope by themselves, and how to have them do so; null: nothing keeps what a person sets. */
  readonly selfLoading: { readonly isOn: () => boolean; readonly turnOn: () => void } | null;
}

export interface PanelSpec {
  /** Unique in the page, and the same after a reload. */
  readonly id: string;
  readonly chart: ChartName;
  readonly compact: boolean;
}

export class ChartPanel extends Widget {
  constructor(
    readonly spec: PanelSpec,
    private readonly _context: PanelContext
  ) {
    super();
    const { owners, sessions, kernels } = _context;
    this.id = spec.id;
    this.node.tabIndex = -1;
    this.title.icon = chartOf(spec.chart).icon;
    this._target = new PanelTarget(owners, sessions, kernels);
    this._target.changed.connect(this._onTarget);
    this._header = new PanelHeader(
      this.node,
      {
        setPinned: pinned => {
          this._target.setPinned(pinned);
        },
        loadAlways: _context.selfLoading && (() => {
          _context.selfLoading?.turnOn();
          void this._load();
        }),
        load: () => {
          void this._load();
        }
      }
    );
    this._refresh();
  }

  begin({ pin, views }: PanelMemory): void {
    this._views = new Views(views, () => {
      this._save();
    });
    this._target.setPin(pin);
    this._save();
    this._refresh();
  }

  get pin(): Pin | null {
    return this._target.pin;
  }

  /** The kernel that is looked at, null: none. */
  get kernelId(): string | null {
    const { state } = this._target;
    return state.kind === 'kernel' ? state.model.id : null;
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._release();
    this._lookedAt.end.abort();
    this._views?.dispose();
    this._target.dispose();
    super.dispose();
  }

  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    // What is closed only is still tracked, and would be taken for open.
    if (this.title.closable) {
      this.dispose();
    }
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.node.focus();
  }

  override processMessage(message: Message): void {
    super.processMessage(message);
    if (['after-show', 'after-hide', 'after-attach', 'after-detach'].includes(message.type)) {
      this._refresh();
    }
  }

  private readonly _onTarget = (): void => {
    this._error = null;
    this._save();
    this._refresh();
  };

  private _save(): void {
    // Before it has begun it knows nothing, which is not to replace what was kept.
    if (this._views !== null) {
      this._context.memory.save(this.spec.id, { pin: this.pin, views: this._views.all });
    }
  }

  /** Bring everything up to date with what is looked at and whether anybody can see it. */
  private _refresh(): void {
    const { state } = this._target;
    if (this.kernelId !== this._lookedAt.kernelId) {
      this._lookedAt.end.abort();
      this._lookedAt = { kernelId: this.kernelId, end: new AbortController() };
    }
    const model = this.isVisible && state.kind === 'kernel' ? state.model : null;
    if (model?.id !== this._live?.feed.kernelId) {
      this._release();
      if (model !== null && this._views !== null) {
        this._wish = model.id;
        void this._hold(model, this._views);
      }
    }
    this._say();
  }

  private async _hold(model: Kernel.IModel, views: Views): Promise<void> {
    const { feeds } = this._context;
    await feeds.ready();
    if (this._wish !== model.id || this._live !== null) {
      return;
    }
    const { chart, compact } = this.spec;
    const reveal = this._context.cells?.of(model.id) ?? (() => null);
    const { value: feed, release } = feeds.use(model);
    const shown = new AbortController();
    showLive(this._header.body, feed, { chart, compact, views, reveal, until: this._lookedAt.end.signal }, shown.signal);
    shown.signal.addEventListener('abort', release);
    this._live = { feed, shown };
    feed.stateChanged.connect(this._say);
    this._say();
  }

  private _release(): void {
    this._wish = null;
    this._live?.feed.stateChanged.disconnect(this._say);
    this._live?.shown.abort();
    this._live = null;
  }

  private async _load(): Promise<void> {
    const feed = this._live?.feed;
    if (feed === undefined || this._loading) {
      return;
    }
    this._loading = true;
    this._error = null;
    this._say();
    const error = await loadTaskscope(feed);
    this._loading = false;
    if (!this.isDisposed && feed === this._live?.feed) {
      this._error = error;
      this._say();
    }
  }

  private readonly _say = (): void => {
    const { state, pin } = this._target;
    const name = state.kind === 'none' ? '' : state.name;
    const status = statusOf(state, this._live?.feed ?? null);
    const label = chartOf(this.spec.chart).label();
    // At the side there is room for an icon only.
    this.title.label = this.spec.compact ? '' : pin === null ? label : `${label}: ${name}`;
    this.title.caption = name === '' ? label : `${label}: ${name}`;
    if (this.isVisible) {
      const text = (status.mayLoad ? this._error : null) ?? status.text;
      this._header.show({ name, text, mayLoad: status.mayLoad, former: status.former, loading: this._loading, loadsItself: this._context.selfLoading?.isOn() === true, pinned: pin !== null, mayPin: state.kind !== 'none' });
    }
  };

  private readonly _header: PanelHeader;
  private readonly _target: PanelTarget;
  private _views: Views | null = null;
  /** The kernel that is looked at, seen or not; null: none. */
  private _lookedAt: { readonly kernelId: string | null; readonly end: AbortController } = { kernelId: null, end: new AbortController() };
  /** What is shown until `shown` aborts. */
  private _live: { readonly feed: Feed; readonly shown: AbortController } | null = null;
  /** The kernel that is held as soon as feeds are ready. */
  private _wish: string | null = null;
  private _loading = false;
  private _error: string | null = null;
}

/** Resolves to what went wrong, in words, or null. */
async function loadTaskscope(feed: Feed): Promise<string | null> {
  try {
    const error = await feed.load();
    if (error === null) {
      return null;
    }
    return error.name === 'ModuleNotFoundError' && error.text.includes("'taskscope'")
      ? trans.__('taskscope is not installed where this kernel runs: install it there (pip install taskscope), then try again')
      : trans.__('taskscope could not be loaded: %1: %2', error.name, error.text);
  } catch {
    // The kernel was restarted or shut down meanwhile, which the panel says.
    return null;
  }
}

export interface LiveChartOptions {
  readonly chart: ChartName;
  readonly compact: boolean;
  readonly views: Views;
  readonly reveal: RevealCell;
  /** Aborts once the panel is closed or looks at another kernel. */
  readonly until: AbortSignal;
}

/** Show a kernel's chart in `el` until `until` aborts. */
export function showLive(el: HTMLElement, feed: Feed, options: LiveChartOptions, until: AbortSignal): void {
  let mounted: AbortController | null = null;
  let shown = '';
  const refresh = (): void => {
    const { recorder } = feed;
    if (recorder !== shown) {
      mounted?.abort();
      shown = recorder;
      mounted = new AbortController();
      void mountChart(el, feed, recorder, mounted.signal, options);
    }
  };
  feed.recorderChanged.connect(refresh);
  until.addEventListener('abort', () => {
    feed.recorderChanged.disconnect(refresh);
    mounted?.abort();
  });
  refresh();
}

/** Mount a chart as soon as its script is here, unless the signal has aborted by then. */
async function mountChart(el: HTMLElement, feed: Feed, recorder: string, signal: AbortSignal, { chart, views, ...more }: LiveChartOptions): Promise<void> {
  try {
    const { mountPanel } = await import('../../chart-host');
    if (!signal.aborted) {
      mountPanel(chart, el, feed, recorder, signal, {
        ...more,
        axis: newAxis => views.axis(recorder, newAxis, signal),
        hidden: views.hidden(recorder),
        onHidden: prefixes => { views.setHidden(recorder, prefixes); }
      });
    }
  } catch (error) {
    const reason = messageOf(error);
    el.replaceChildren(trans.__('The chart could not be loaded: %1', reason));
  }
}
