/** What a feed is doing, in words, and what a person may set for all feeds of a page. */
import { trans } from '../../../lib/translate';

export type FeedState =
  /** Asking the kernel for a subshell, or waiting for its first answer. */
  | { kind: 'connecting' }
  /** Answered; `subshell` says whether it also answers while a cell runs. */
  | { kind: 'live'; subshell: boolean; note?: string }
  /** The kernel knows no taskscope; its language is null where it does not say. */
  | { kind: 'not-loaded'; language: string | null }
  /** The kernel began anew, and has not loaded taskscope since. */
  | { kind: 'restarted' }
  /** The connection is lost; it is being tried again. */
  | { kind: 'disconnected' }
  /** The kernel is gone for good. */
  | { kind: 'dead' }
  /** The kernel speaks another protocol, or refused this page. */
  | { kind: 'refused'; error: string };

/** Whether a kernel that has not loaded taskscope could. */
export function isPython({ language }: { readonly language: string | null }): boolean {
  return language === null || language === 'python';
}

/** Say in words what is not as it should be; null when all is well. */
export function describeState(state: FeedState): string | null {
  switch (state.kind) {
    case 'connecting':
      return trans.__('waiting for the kernel');
    case 'not-loaded':
      return isPython(state)
        ? trans.__('taskscope is not loaded in this kernel yet')
        : trans.__('this kernel runs %1; Dask computes are watched in Python kernels', state.language ?? '');
    case 'restarted':
      return trans.__('kernel restarted');
    case 'disconnected':
      return trans.__('disconnected, trying again');
    case 'dead':
      return trans.__('the kernel is gone');
    case 'refused':
      return state.error;
    case 'live':
      return state.note ?? null;
  }
}

export interface FeedSettings {
  /** Messages a second, at most. */
  readonly updatesPerSecond: number;
  /** How many tasks a store holds at most. */
  readonly maxTasks: number;
  /** Whether kernels keep long computes as files. */
  readonly keepHistory: boolean;
}

export const FEED_DEFAULTS: FeedSettings = { updatesPerSecond: 10, maxTasks: 5_000_000, keepHistory: false };
