/** All feeds of this page: one per kernel that announced taskscope or that a view asks for. */
import type { Kernel } from '@jupyterlab/services';
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { PanelAsk } from '../kernel/messages';
import type { Feed } from './feed';
import type { kernelFeed } from './kernel-feed';
import { FEED_DEFAULTS, type FeedSettings } from './state';
import type { Use } from './shared';
import { SharedMap } from './shared';

export interface IFeeds {
  /** A kernel has a feed now that had none. */
  readonly added: ISignal<IFeeds, Feed>;
  /** The feed of a kernel, if there is one. */
  get(kernelId: string): Feed | undefined;
  /** Resolves when the script of feeds is here, which is loaded for the first kernel that needs it. */
  ready(): Promise<void>;
  /** Use the feed of a kernel, made if need be; only once it is `ready`. `release` it when the view goes. */
  use(model: Kernel.IModel): Use<Feed>;
  /** Change what a person has set. */
  configure(settings: FeedSettings): void;
  /** A cell that this page ran asks for a panel. */
  readonly panelAsked: ISignal<IFeeds, { readonly model: Kernel.IModel; readonly ask: PanelAsk }>;
}

export const IFeeds = new Token<IFeeds>(
  'taskscope:IFeeds',
  'Live Dask diagnostics by kernel: stores of tasks that views share.'
);

export class Feeds implements IFeeds, IDisposable {
  /** @param _openPage opens a page of HTML that a kernel made */
  constructor(kernels: Kernel.IManager, private readonly _openPage: (html: string) => void) {
    this._kernels = kernels;
    kernels.runningChanged.connect(this._onRunning);
  }

  readonly panelAsked = new Signal<this, { readonly model: Kernel.IModel; readonly ask: PanelAsk }>(this);
  readonly added = new Signal<this, Feed>(this);

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  async ready(): Promise<void> {
    this._kernelFeed ??= (await import('./kernel-feed')).kernelFeed;
  }

  get(kernelId: string): Feed | undefined {
    return this._feeds.get(kernelId)?.feed;
  }

  use(model: Kernel.IModel): Use<Feed> {
    const isNew = this.get(model.id) === undefined;
    const { value: { feed }, release } = this._feeds.use(model.id, () => this._make(model));
    if (isNew) {
      this.added.emit(feed);
    }
    return { value: feed, release };
  }

  /** A kernel has loaded taskscope, perhaps anew: every announcement is followed by a fresh hello. */
  async announced(model: Kernel.IModel): Promise<void> {
    await this.ready();
    if (this._isDisposed) {
      return;
    }
    const known = this.get(model.id);
    if (known === undefined) {
      this.added.emit(this._feeds.open(model.id, () => this._make(model)).feed);
    } else {
      known.attach();
    }
  }

  restarted(kernelId: string): void {
    this.get(kernelId)?.restarted();
  }

  configure(settings: FeedSettings): void {
    this._settings = settings;
    for (const { feed } of this._feeds.values()) {
      feed.configure(settings);
    }
  }

  asksForPanel(model: Kernel.IModel, ask: PanelAsk): void {
    this.panelAsked.emit({ model, ask });
  }

  /** The tab is seen again. */
  shown(): void {
    for (const { feed } of this._feeds.values()) {
      feed.shown();
    }
  }

  /** The browser puts the page aside. */
  suspend(): void {
    for (const { feed } of this._feeds.values()) {
      feed.suspend();
    }
  }

  /** The browser shows it again. */
  resume(): void {
    for (const { feed } of this._feeds.values()) {
      feed.attach();
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.clearData(this);
    this._feeds.clear();
  }

  private readonly _onRunning = (_: Kernel.IManager, models: Kernel.IModel[]): void => {
    const running = new Set(models.map(model => model.id));
    for (const entry of this._feeds.values()) {
      entry.seen = entry.seen || running.has(entry.feed.kernelId);
      entry.gone = entry.seen && !running.has(entry.feed.kernelId);
    }
    this._feeds.sweep();
  };

  private _make(model: Kernel.IModel): Entry {
    if (this._kernelFeed === null) {
      throw new Error('feeds are used before they are ready: await ready() first');
    }
    return { feed: this._kernelFeed(this._kernels, model, this._settings, this._openPage), seen: false, gone: false };
  }

  private readonly _kernels: Kernel.IManager;
  private _kernelFeed: typeof kernelFeed | null = null;
  /** A feed lives as long as its kernel, or its last view; where there is nothing to hear, only for its views. */
  private readonly _feeds = new SharedMap<string, Entry>(
    ({ feed, gone }) => gone || feed.state.kind === 'not-loaded',
    ({ feed }) => {
      feed.dispose();
    }
  );
  private _settings = FEED_DEFAULTS;
  private _isDisposed = false;
}


interface Entry {
  readonly feed: Feed;
  /** Whether the server has listed the kernel since the feed began. */
  seen: boolean;
  /** Whether it has since been shut down. */
  gone: boolean;
}
