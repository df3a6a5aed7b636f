/** The answer to "why did these computes take so long?"; its texts are the kernel's. */
import { Field } from './check';
import { rowsOf } from './codec';
import { bytesOfBase64 } from './frames';
import { type Batch, PageStream } from './stream';

/** As many of each as a kernel tells. */
const MAX_FINDINGS = 200;
/** Of tasks on a path. */
const MAX_STEPS = 30_000;
const MAX_SPANS = 100;
const MAX_NAMES = 20;

export interface Finding {
  readonly cause: string;
  /** What it is worth, and between which that lies; an estimate. */
  readonly worthS: number;
  readonly lowS: number;
  readonly highS: number;
  readonly text: string;
  readonly advice: string;
  /** The compute that it is of; null: of several. */
  readonly run: number | null;
  /** When it was. */
  readonly spansS: readonly (readonly [startS: number, stopS: number])[];
  /** Of its tasks; none: it is of all tasks, or of none. */
  readonly prefixes: readonly string[];
  /** Its tasks, where these are certain ones. */
  readonly rows: readonly number[];
}

/** Each begins where the one before it ended. */
export type PathStep = { readonly startS: number; readonly stopS: number } & (
  | { readonly kind: 'wait'; readonly cause: string }
  /** Row null: it is not held. */
  | { readonly kind: 'task'; readonly prefix: string; readonly row: number | null }
);

/** The tasks and waits that set how long computes took, the earliest first. */
export type CriticalPath = readonly PathStep[];

/** The path, or why it is not known. */
export type KnownPath = { readonly path: CriticalPath } | { readonly reason: string };

export interface Explanation {
  readonly makespanS: number;
  /** In one sentence. */
  readonly answer: string;
  /** That other programs used the cores; null: they did not. */
  readonly busy: string | null;
  /** What is worth most first. */
  readonly findings: readonly Finding[];
  readonly path: KnownPath;
}

/** `none`: nothing can be said of these computes, and why; `later`: ask again, after so long. */
export type Explained =
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'later'; readonly waitS: number }
  | { readonly kind: 'explained'; readonly explanation: Explanation };

/** @throws WireError naming what is wrong. */
export function decodeExplained(data: unknown): Explained {
  const reply = new Field(data, 'reply');
  if (reply.at('wait_s').value !== undefined) {
    return { kind: 'later', waitS: amount(reply.at('wait_s')) };
  }
  const explanation = reply.at('explanation').orNull(decodeExplanation);
  return explanation === null ? { kind: 'none', reason: reply.at('reason').text() } : { kind: 'explained', explanation };
}

function decodeExplanation(field: Field): Explanation {
  return {
    makespanS: amount(field.at('makespan_s')),
    answer: field.at('answer').text(),
    busy: field.at('busy').value === undefined ? null : field.at('busy').orNull(busy => busy.text()),
    findings: few(field.at('findings'), MAX_FINDINGS).map(decodeFinding),
    path: decodePath(field.at('path'))
  };
}

function decodePath(field: Field): KnownPath {
  if (field.at('reason').value !== undefined) {
    return { reason: field.at('reason').text() };
  }
  const frames = field.at('frames');
  const path = pathOf(new PageStream().read(bytesOfBase64(frames.value, frames.path)) ?? []);
  return path === null ? frames.fail('a stream with a path') : { path };
}

/** The critical path in the batches of a stream, or null. */
export function pathOf(batches: readonly Batch[]): CriticalPath | null {
  const names = batches.flatMap(({ tables }) => tables.path_names.columns.text);
  const path = batches.map(({ tables }) => tables.path).find(({ n }) => n > 0);
  if (path === undefined) {
    return null;
  }
  const [start, ...steps] = rowsOf<'path'>(path);
  let startS = start?.stopS ?? 0;
  return steps.map(({ stopS, name, isWait, row }) => {
    const [span, what] = [{ startS, stopS }, names[name ?? -1] ?? ''];
    startS = stopS;
    return isWait === 1 ? { kind: 'wait', ...span, cause: what } : { kind: 'task', ...span, prefix: what, row };
  });
}

function decodeFinding(field: Field): Finding {
  return {
    cause: field.at('cause').text(),
    worthS: amount(field.at('worth_s')),
    lowS: amount(field.at('low_s')),
    highS: amount(field.at('high_s')),
    text: field.at('text').text(),
    advice: field.at('advice').text(),
    run: field.at('run').orNull(run => run.count()),
    spansS: few(field.at('spans_s'), MAX_SPANS).map(span => {
      const [start, stop] = span.tuple(2) as [Field, Field];
      return [start.number(), stop.number()] as const;
    }),
    prefixes: few(field.at('prefixes'), MAX_NAMES).map(prefix => prefix.text()),
    rows: decodeRows(field.at('rows'))
  };
}

function decodeRows(field: Field): number[] {
  return few(field, MAX_STEPS).map(row => row.count());
}

function few(field: Field, max: number): Field[] {
  const fields = field.list();
  return fields.length <= max ? fields : field.fail(`an array of at most ${max}`);
}

function amount(field: Field): number {
  const seconds = field.number();
  return seconds >= 0 ? seconds : field.fail('0 or more seconds');
}
