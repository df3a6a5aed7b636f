/** Asks the kernel whether other programs used the cores while executions ran: one at a time, and later where it says so. */
import type { RunRange } from '../../../store';
import type { Explained } from '../../../wire';

/** An execution of which that is not known. */
export interface Question {
  readonly runRange: RunRange;
  /** @param busy that they did, in a sentence; null: they did not, or nobody knows */
  readonly tell: (busy: string | null) => void;
}

/** Whatever the kernel says, it is asked again after this long. */
const MAX_WAIT_S = 600;

export class BusyMachine {
  /** @param _explain resolves to what the kernel says of computes; null: there is none */
  constructor(private readonly _explain: (runRange: RunRange) => Promise<Explained> | null) {}

  /** Have a question answered, unless it is on its way. */
  ask(question: Question): void {
    if (!this._questions.has(question)) {
      this._questions.add(question);
      this._next();
    }
  }

  /** A question that nobody has any more. */
  drop(question: Question): void {
    this._questions.delete(question);
  }

  dispose(): void {
    this._questions.clear();
    clearTimeout(this._timer);
  }

  private _next(): void {
    const [question] = this._questions;
    if (question !== undefined && !this._isAsking) {
      this._isAsking = true;
      void this._answer(question);
    }
  }

  private async _answer(question: Question): Promise<void> {
    const explained = await this._explain(question.runRange)?.catch(() => null) ?? null;
    if (explained?.kind === 'later') {
      // Whichever is the first by then.
      this._timer = setTimeout(() => { this._goOn(); }, Math.min(explained.waitS, MAX_WAIT_S) * 1000);
      return;
    }
    if (this._questions.delete(question)) {
      question.tell(explained?.kind === 'explained' ? explained.explanation.busy : null);
    }
    this._goOn();
  }

  private _goOn(): void {
    this._isAsking = false;
    this._next();
  }

  private readonly _questions = new Set<Question>();
  private _isAsking = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
