/** What shows a kernel's computes in few words follows its feed: whichever kernel that is now, a few times a second. */
import type { TaskStore } from '../../../store';
import type { Feed } from './feed';
import type { IFeeds } from './feeds';
import type { FeedState } from './state';

/** A frame that has not come by then is not waited for. */
const REFRESH_MS = 200;
/** How often a kernel that sends nothing is looked at. */
const SILENCE_MS = 1_000;

/** @param _kernelId tells which kernel is shown now; @param _refresh is called when anything of it may have changed */
export class FeedFollower {
  constructor(
    private readonly _feeds: IFeeds,
    private readonly _kernelId: () => string | undefined,
    private readonly _refresh: () => void
  ) {
    _feeds.added.connect(this.follow);
    this.follow();
  }

  /** Where the feed stands; null: the kernel has none. */
  get state(): FeedState['kind'] | null {
    return this._feed?.state.kind ?? null;
  }

  get store(): TaskStore | null {
    return this._feed?.store ?? null;
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    this._feeds.added.disconnect(this.follow);
    this._leave();
  }

  /** Another kernel may be shown. */
  readonly follow = (): void => {
    const id = this._kernelId();
    const feed = id === undefined ? undefined : this._feeds.get(id);
    if (feed !== this._feed) {
      this._leave();
      this._feed = feed;
      feed?.stateChanged.connect(this.soon);
      feed?.recorderChanged.connect(this._onRecorder);
      this._onRecorder();
    }
  };

  /** Something else changed of what is shown. */
  readonly soon = (): void => {
    if (!this._isDue) {
      this._isDue = true;
      // With the next frame, in which the panel shows the same; a page that is not seen has none.
      const come = (): void => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
        this._isDue = false;
        if (!this._isDisposed) {
          this._refresh();
          clearTimeout(this._timer);
          this._timer = this._feed?.active === true ? setTimeout(this.soon, SILENCE_MS) : undefined;
        }
      };
      const frame = requestAnimationFrame(come);
      const timer = setTimeout(come, REFRESH_MS);
    }
  };

  private readonly _onRecorder = (): void => {
    this._watch?.abort();
    this._watch = new AbortController();
    this.store?.subscribe(this.soon, this._watch.signal);
    this.soon();
  };

  private _leave(): void {
    this._watch?.abort();
    this._feed?.stateChanged.disconnect(this.soon);
    this._feed?.recorderChanged.disconnect(this._onRecorder);
  }

  private _feed: Feed | undefined;
  private _watch: AbortController | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDue = false;
  private _isDisposed = false;
}
