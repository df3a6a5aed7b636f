/** Keeps a page in step with its kernel: asks until there is an answer, and again for what was lost on the way. */
import type { KernelComms } from './comms';
import type { Reply } from './replies';

/** How long a kernel with a subshell usually takes to answer, at most; one C call may hold it up for longer. */
export const RESUME_MS = 3_000;

/** How soon it is asked again. The server drops answers for seconds when a cell prints more than it passes on. */
const AGAIN_MS = 500;
const MAX_UNANSWERED = RESUME_MS / AGAIN_MS - 1;
/** How long the start of what was asked for may take, before it is looked for. */
const START_MS = 1_000;

export interface StepOptions {
  readonly comms: Pick<KernelComms, 'ask' | 'hasSubshell' | 'isConnected' | 'isOpen' | 'isSameKernel'>;
  /** How many rows are here, of all that the kernel ever had. */
  readonly nRows: () => number;
  /** Begins anew: the kernel that was known is gone, or answers everything but us. */
  readonly reopen: () => void;
  /** Whether the kernel works on a request, so that it answers no other yet. */
  readonly isBusy: () => boolean;
}

export class InStep {
  private _awaitsStart = true;
  /** Whether the kernel has answered since the start was asked for, so that the start was sent before. */
  private _startIsDue = false;
  /** How many rows the kernel had at the last renewal; they should be here by the next one. */
  private _promised = 0;
  private _renewal: ReturnType<typeof setInterval> | undefined;
  private _resume: ReturnType<typeof setTimeout> | undefined;
  private _isInDoubt = false;
  /** Counts what happens, so that an answer to an earlier doubt is known to be late. */
  private _turn = 0;

  constructor(private readonly _options: StepOptions) {}

  /** Say hello on comms that were just opened, to the end that the stream starts. */
  hello(epoch: string): void {
    this._awaitsStart = true;
    this._startIsDue = false;
    this._options.comms.ask({ verb: 'hello', cursor: this._options.nRows(), epoch });
    this._insist(Number.POSITIVE_INFINITY);
  }

  /** Say that this page is still there, and look into it where a kernel that could answer does not. */
  renew(): void {
    if (this._options.comms.isOpen && !this._isInDoubt) {
      this._options.comms.ask({ verb: 'renew' });
      this._insist(MAX_UNANSWERED);
    }
  }

  /** Ask for nothing more until something happens. */
  rest(): void {
    this._turn++;
    this._isInDoubt = false;
    clearTimeout(this._resume);
  }

  /** Ask for nothing any more, until a `hello` is answered. */
  stop(): void {
    this.rest();
    clearInterval(this._renewal);
    this._renewal = undefined;
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

  /** Whether a message counts: what still comes of a stream that is to start anew does not. Null: messages before it are missing. */
  takes(seq: number | null): boolean {
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
    this._options.comms.ask({ verb: 'resync', cursor });
    this._expectStart();
  }

  /** Ask for a sign of life until it comes; after `most` more without an answer `_doubt` looks into it. */
  private _insist(most: number, unanswered = 0, doubts = 0): void {
    const { comms, isBusy } = this._options;
    this.rest();
    if (!comms.hasSubshell || !comms.isConnected) {
      return;
    }
    const isSlow = unanswered > MAX_UNANSWERED;
    this._resume = setTimeout(
      () => {
        if (isBusy()) {
          this._insist(most, unanswered, doubts);
        } else if (unanswered < most) {
          comms.ask({ verb: 'renew' });
          this._insist(most, unanswered + 1, doubts);
        } else {
          void this._doubt(doubts);
        }
      },
      isSlow ? RESUME_MS : AGAIN_MS
    );
  }

  /**
   * Nothing comes: answers were lost, a C call holds up all threads of the kernel, or it is another kernel by now.
   * Its control channel, of which the server drops nothing, tells which. Meanwhile nothing is asked that would queue up.
   */
  private async _doubt(doubts: number): Promise<void> {
    const { comms, reopen } = this._options;
    this.rest();
    this._isInDoubt = true;
    const turn = this._turn;
    const isSame = await comms.isSameKernel();
    if (turn !== this._turn) {
      return;
    }
    this.rest();
    if (!comms.isConnected) {
      return;
    }
    if (isSame === null) {
      void this._doubt(doubts);
    } else if (isSame && doubts === 0) {
      comms.ask({ verb: 'renew' });
      this._insist(MAX_UNANSWERED, 0, 1);
    } else {
      reopen();
    }
  }

  /** An answer that comes later than what was to start tells that its start was lost. */
  private _expectStart(): void {
    this.rest();
    if (this._options.comms.hasSubshell) {
      this._resume = setTimeout(() => {
        if (this._awaitsStart) {
          this.renew();
        }
      }, START_MS);
    }
  }
}
