/** Requests of a page to its kernel: each has one answer, or fails in time. */
import type { JSONObject } from '@lumino/coreutils';

import { trans } from '../../../lib/translate';
import type { Reply } from './replies';

/** How long an answer may take: explanations and files of many tasks take seconds. */
const DEADLINE_MS = 30_000;

/** No answer came; the kernel may have done what was requested. */
export class NoAnswerError extends Error {}

interface Pending {
  readonly data: JSONObject;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  timer?: ReturnType<typeof setTimeout>;
}

export class Requests {
  /**
   * @param _send returns false where nothing can be sent
   * @param _isHeldUp tells whether the kernel answers nothing before its cell ends
   */
  constructor(
    private readonly _send: (data: JSONObject) => boolean,
    private readonly _isHeldUp: () => boolean
  ) {}

  /** Whether the kernel works on a request, and answers no other until that is done. */
  get isWaiting(): boolean {
    return this._pending.size > 0;
  }

  /**
   * Resolves to the answer; an equal request that is pending shares it. Rejects with the kernel's refusal, or with a
   * `NoAnswerError`.
   *
   * @param deadlineMs left out: time in which the kernel cannot answer does not count
   */
  ask(data: JSONObject, deadlineMs?: number): Promise<Reply> {
    const text = JSON.stringify(data);
    const answer = this._shared.get(text) ?? this._ask(data, deadlineMs).finally(() => { this._shared.delete(text); });
    this._shared.set(text, answer);
    return answer;
  }

  /** Settle the request that `reply` answers, if it is still pending. */
  settle(reply: Reply): void {
    const pending = reply.request === null ? undefined : this._take(reply.request);
    if (reply.error === null) {
      pending?.resolve(reply);
    } else {
      pending?.reject(new Error(reply.error));
    }
  }

  /** Answers may have been lost: send again what may be done twice. */
  repeat(): void {
    for (const [request, { data }] of this._pending) {
      if (data.verb !== 'save') {
        this._send({ ...data, request });
      }
    }
  }

  /** The kernel, or the way to it, is another one: no answer will come. */
  rejectAll(): void {
    for (const request of [...this._pending.keys()]) {
      this._take(request)?.reject(new NoAnswerError(trans.__('the connection to the kernel was lost')));
    }
  }

  private _ask(data: JSONObject, deadlineMs?: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const request = this._n++;
      if (!this._send({ ...data, request })) {
        reject(new NoAnswerError(trans.__('the kernel does not answer')));
        return;
      }
      const pending: Pending = { data, resolve, reject };
      const wait = (ms: number): void => {
        pending.timer = setTimeout(() => {
          if (deadlineMs === undefined && this._isHeldUp()) {
            wait(ms);
          } else {
            this._take(request)?.reject(new NoAnswerError(trans.__('the kernel has not answered for %1 s', String(ms / 1000))));
          }
        }, ms);
      };
      this._pending.set(request, pending);
      wait(deadlineMs ?? DEADLINE_MS);
    });
  }

  private _take(request: number): Pending | undefined {
    const pending = this._pending.get(request);
    clearTimeout(pending?.timer);
    this._pending.delete(request);
    return pending;
  }

  private readonly _pending = new Map<number, Pending>();
  /** Answers that are to come, by what was requested. */
  private readonly _shared = new Map<string, Promise<Reply>>();
  private _n = 0;
}
