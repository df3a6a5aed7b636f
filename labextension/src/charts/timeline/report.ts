/** What the person did, told to the host: at the end of a gesture, and only what changed. */
import type { View } from './time/time-frame';

interface Listeners {
  readonly onFollow?: (follow: boolean) => void;
  readonly onTimeRange?: (range: [startS: number, stopS: number] | null) => void;
  readonly onSelectedKey?: (key: string | null) => void;
  readonly onHidden?: (hidden: readonly string[]) => void;
}

const SETTLE_MS = 250;

export class Reporter {
  #follow: boolean | null = null;
  #key: string | null = null;
  #hiddenVersion = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listeners: Listeners) {}

  view(view: View): void {
    const follow = view.kind === 'follow';
    if (follow !== this.#follow) {
      this.#follow = follow;
      this.listeners.onFollow?.(follow);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.listeners.onTimeRange?.(view.kind === 'free' ? [view.span.startS, view.span.stopS] : null);
    }, SETTLE_MS);
  }

  selectedKey(key: string | null): void {
    if (key !== this.#key) {
      this.#key = key;
      this.listeners.onSelectedKey?.(key);
    }
  }

  hidden({ version, hidden }: { readonly version: number; readonly hidden: readonly string[] }): void {
    if (version !== this.#hiddenVersion) {
      this.#hiddenVersion = version;
      this.listeners.onHidden?.(hidden);
    }
  }

  /** The host knows this key: it comes from there. */
  knownKey(key: string | null): void {
    this.#key = key;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
