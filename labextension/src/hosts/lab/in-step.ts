/** Keeps a page in step with its kernel: asks until there is an answer, and again for what was lost on the way. */
import type { KernelLink } from './link';
import type { Reply } from './replies';

/** How long a kernel with a subshell may take to answer. */
export const RESUME_MS = 3_000;

/** How soon it is asked again. The server drops answers for seconds when a cell prints more than it passes on. */
const AGAIN_MS = 500;
const MAX_UNANSWERED = RESUME_MS / AGAIN_MS - 1;
/** How long the start of what was asked for may take, before it is looked for. */
const START_MS = 1_000;

export interface StepOptions {
  readonly link: Pick<KernelLink, 'ask' | 'hasSubshell' | 'isConnected' | 'isOpen'>;
  /** How many rows are here, of all that the kernel ever had. */
  readonly nRows: () => number;
  /** Begins anew: the kernel that was known is gone, it seems. */
  readonly reopen: () => void;
}

export class InStep {
  private _awaitsStart = true;
  /** Whether the kernel has answered since the start was asked for, so that the start was sent before. */
  private _startIsDue = false;
  /** How many rows the kernel had at the last renewal; they should be here by the next one. */
  private _promised = 0;
  private _renewal: ReturnType<typeof setInterval> | undefined;
  private _resume: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly _options: StepOptions) {}

  /** Say hello on comms that were just opened, to the end that the stream starts. */
  hello(epoch: string): void {
    this._awaitsStart = true;
    this._startIsDue = false;
    this._options.link.ask({ verb: 'hello', cursor: this._options.nRows(), epoch });
    this._insist(Number.POSITIVE_INFINITY);
  }

  /** Say that this page is still there; a kernel that could answer and does not is a new one. */
  renew(): void {
    if (this._options.link.isOpen) {
      this._options.link.ask({ verb: 'renew' });
      this._insist(MAX_UNANSWERED);
    }
  }

  /** Ask for nothing more until something happens. */
  rest(): void {
    clearTimeout(this._resume);
  }

  /** Go on from an answer: renew the lease while it lasts, and look for what should be here and is not. */
  follow({ re, leaseS, cursor }: Reply): void {
    if (re === 'hello' || this._renewal === undefined) {
      clearInterval(this._renewal);
      this._renewal = setInterval(() => {
        this.renew();
      }, (leaseS * 1000) / 3);
    }
    this._startIsDue = true;
    // Messages may be lost when no others follow that would show the gap.
    if (re === 'renew' && (this._awaitsStart || this._options.nRows() < this._promised)) {
      this.resync(this._options.nRows());
    }
    this._promised = re === 'renew' ? cursor : 0;
    if (this._awaitsStart) {
      this._expectStart();
    }
  }

  /** Whether a message counts: what still comes of a stream that is to start anew does not. */
  takes(seq: number): boolean {
    const counts = !this._awaitsStart || seq === 0;
    if (!counts && this._startIsDue) {
      // Its start must have been lost.
      this.resync(this._options.nRows());
    }
    return counts;
  }

  /** A message that counts was taken over. */
  started(): void {
    this._awaitsStart = false;
  }

  /** Ask for all rows from `cursor` on. */
  resync(cursor: number): void {
    this._awaitsStart = true;
    this._startIsDue = false;
    this._options.link.ask({ verb: 'resync', cursor });
    this._expectStart();
  }

  dispose(): void {
    clearInterval(this._renewal);
    clearTimeout(this._resume);
  }

  /** Ask for a sign of life until it comes; after `most` more without an answer the kernel must be another one. */
  private _insist(most: number, unanswered = 0): void {
    const { link, reopen } = this._options;
    clearTimeout(this._resume);
    if (!link.hasSubshell || !link.isConnected) {
      return;
    }
    const isSlow = unanswered > MAX_UNANSWERED;
    this._resume = setTimeout(
      () => {
        if (unanswered < most) {
          link.ask({ verb: 'renew' });
          this._insist(most, unanswered + 1);
        } else {
          reopen();
        }
      },
      isSlow ? RESUME_MS : AGAIN_MS
    );
  }

  /** An answer that comes later than what was to start tells that its start was lost. */
  private _expectStart(): void {
    clearTimeout(this._resume);
    if (this._options.link.hasSubshell) {
      this._resume = setTimeout(() => {
        if (this._awaitsStart) {
          this.renew();
        }
      }, START_MS);
    }
  }
}
