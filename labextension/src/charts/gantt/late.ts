/** The part of the chart that comes, as a script of its own, once the first picture stands. */
import type * as Script from './extras';

type Extras = Script.Extras;

let script: typeof Script | null = null;

/** Load what comes later; resolves at once where it is here already. */
export async function loadExtras(): Promise<typeof Script> {
  return (script ??= await import('./extras'));
}

/** One chart's part of it. */
export class Late {
  #extras: Extras | null = null;

  /**
   * @param make makes it of the script; called once
   * @param failed hears why the script could not be loaded, as often as somebody needs it
   */
  constructor(
    private readonly make: (script: typeof Script) => Extras,
    private readonly failed: (reason: string) => void,
    private readonly signal: AbortSignal
  ) {}

  /** Null: it is not here yet. */
  get extras(): Extras | null {
    return this.#extras;
  }

  /** Do something with it: now, or as soon as it is here. */
  use(act: (extras: Extras) => void): void {
    if (script !== null) {
      act(this.#extras ??= this.make(script));
      return;
    }
    loadExtras().then(
      () => {
        if (!this.signal.aborted) {
          this.use(act);
        }
      },
      (error: unknown) => {
        if (!this.signal.aborted) {
          this.failed(error instanceof Error ? error.message : String(error));
        }
      }
    );
  }
}
