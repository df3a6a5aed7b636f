/** The answer to "why did these computes take so long?"; its texts are the kernel's. */
import { Field } from './check';

/** As many of each as a kernel tells. */
const MAX_FINDINGS = 200;
const MAX_ROWS = 10_000;
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

export interface CriticalPath {
  /** Its tasks that are held. */
  readonly rows: readonly number[];
  readonly taskS: number;
  /** The longest first. */
  readonly waitsS: readonly (readonly [cause: string, seconds: number])[];
}

export interface Explanation {
  readonly makespanS: number;
  /** What is worth most first. */
  readonly findings: readonly Finding[];
  readonly path: CriticalPath | null;
}

/** `none`: nothing can be said of these computes; `later`: ask again, after so long. */
export type Explained =
  | { readonly kind: 'none' }
  | { readonly kind: 'later'; readonly waitS: number }
  | { readonly kind: 'explained'; readonly explanation: Explanation };

/** @throws WireError naming what is wrong. */
export function decodeExplained(data: unknown): Explained {
  const reply = new Field(data, 'reply');
  if (reply.at('wait_s').value !== undefined) {
    return { kind: 'later', waitS: amount(reply.at('wait_s')) };
  }
  const explanation = reply.at('explanation').orNull(decodeExplanation);
  return explanation === null ? { kind: 'none' } : { kind: 'explained', explanation };
}

function decodeExplanation(field: Field): Explanation {
  return {
    makespanS: amount(field.at('makespan_s')),
    findings: few(field.at('findings'), MAX_FINDINGS).map(decodeFinding),
    path: field.at('path').orNull(path => ({
      rows: decodeRows(path.at('rows')),
      taskS: amount(path.at('task_s')),
      waitsS: few(path.at('waits_s'), MAX_NAMES).map(wait => {
        const [cause, seconds] = wait.tuple(2) as [Field, Field];
        return [cause.text(), amount(seconds)] as const;
      })
    }))
  };
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
  return few(field, MAX_ROWS).map(row => row.count());
}

function few(field: Field, max: number): Field[] {
  const fields = field.list();
  return fields.length <= max ? fields : field.fail(`an array of at most ${max}`);
}

function amount(field: Field): number {
  const seconds = field.number();
  return seconds >= 0 ? seconds : field.fail('0 or more seconds');
}
