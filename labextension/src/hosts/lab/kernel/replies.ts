/** What the kernel answers on the control comm, checked. */
import { isRecord } from '../../../wire/check';

export interface Reply {
  re: string | null;
  recorder: string;
  epoch: string;
  cursor: number;
  leaseS: number;
  subshell: boolean;
  error: string | null;
  /** Of `stop`: which compute; null: none, or an answer to something else. */
  run: number | null;
  /** Of `save`, `compare` and `explain`: which request; null: none, or an answer to something else. */
  request: number | null;
  /** What came of it. */
  path: string | null;
  html: string | null;
  /** All of it, unchecked. */
  data: unknown;
}

/** Return the reply, or null if it is none of ours. */
export function parseReply(data: unknown): Reply | null {
  if (!isRecord(data)) {
    return null;
  }
  const { re, recorder, epoch, cursor, lease_s: leaseS, subshell, error, run, request, path, html } = data;
  if (typeof recorder !== 'string' || typeof epoch !== 'string' || typeof cursor !== 'number') {
    return null;
  }
  return {
    re: typeof re === 'string' ? re : null,
    recorder,
    epoch,
    cursor,
    leaseS: typeof leaseS === 'number' && leaseS > 0 ? leaseS : 30,
    subshell: subshell === true,
    error: typeof error === 'string' ? error : null,
    run: typeof run === 'number' ? run : null,
    request: typeof request === 'number' ? request : null,
    path: typeof path === 'string' ? path : null,
    html: typeof html === 'string' ? html : null,
    data
  };
}

/** Return the text of a refusal to talk to this page at all, which carries nothing else. */
export function parseRefusal(data: unknown): string | null {
  if (!isRecord(data)) {
    return null;
  }
  const { re, error } = data;
  return re === 'open' && typeof error === 'string' ? error : null;
}
