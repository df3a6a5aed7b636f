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
  /** Of the kernel's taskscope; null: it does not say. */
  version: string | null;
  /** Which request it answers; null: one that had no number. */
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
  const { recorder, epoch, cursor, lease_s: leaseS, subshell } = data;
  if (typeof recorder !== 'string' || typeof epoch !== 'string' || typeof cursor !== 'number') {
    return null;
  }
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return {
    recorder,
    epoch,
    cursor,
    leaseS: typeof leaseS === 'number' && leaseS > 0 ? leaseS : 30,
    subshell: subshell === true,
    ...{ re: text(data.re), version: text(data.version), error: text(data.error), request: number(data.request), path: text(data.path), html: text(data.html) },
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
