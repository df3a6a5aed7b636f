// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { decodeExplained } from '../../src/wire';
import { type TableRows, batchBytes, frame, headerFrame, joined } from './frames';

const FINDING = {
  cause: 'long-chain', worth_s: 1, low_s: 0, high_s: 2, text: 'a text', advice: 'an advice', run: 3, spans_s: [[1, 4.5]], prefixes: ['x'], rows: [7, 9]
};
/** A stream in base64 with these tables. */
function framesOf(tables: TableRows): string {
  const state = { now_s: 0, active: 0, final: 0, n_tasks: 0, n_dropped: 0, n_activities_dropped: 0, n_cores: null, limit_bytes: null, cache_unknown: 0 };
  const columns = Object.fromEntries(Object.entries(state).map(([name, value]) => [name, [value]]));
  return Buffer.from(joined([headerFrame(), frame(batchBytes({ state: { columns }, ...tables }), { kind: 1, number: 1 })])).toString('base64');
}

const STEPS = { stop_s: [1e7, 2e7, 2.5e7, 4e7], name: [null, 0, 1, 2], is_wait: [1, 0, 1, 0], row: [null, 7, null, null] };
const PATH = { frames: framesOf({ path_names: { columns: { text: ['x', 'queue', 'y'] } }, path: { columns: STEPS } }) };
const reply = (explanation: object): object => ({ re: 'explain', explanation: { makespan_s: 4, answer: 'long-chain', busy: null, findings: [FINDING], path: PATH, ...explanation } });

it('reads findings and the path', () => {
  expect(decodeExplained(reply({}))).toEqual({
    kind: 'explained',
    explanation: {
      makespanS: 4,
      answer: 'long-chain',
      busy: null,
      findings: [{
        cause: 'long-chain', worthS: 1, lowS: 0, highS: 2, text: 'a text', advice: 'an advice', run: 3, spansS: [[1, 4.5]], prefixes: ['x'], rows: [7, 9]
      }],
      path: { path: [
        { kind: 'task', startS: 1, stopS: 2, prefix: 'x', row: 7 }, { kind: 'wait', startS: 2, stopS: 2.5, cause: 'queue' },
        { kind: 'task', startS: 2.5, stopS: 4, prefix: 'y', row: null }
      ] }
    }
  });
});

it('reads that there is nothing to say, and when to ask again', () => {
  expect([decodeExplained({ explanation: null, reason: 'these computes still run' }), decodeExplained({ wait_s: 2.5 })]).toEqual([{ kind: 'none', reason: 'these computes still run' }, { kind: 'later', waitS: 2.5 }]);
});

it('reads why the path is not told', () => {
  const explained = decodeExplained(reply({ path: { reason: 'it has 40,000 steps' } }));
  expect(explained.kind === 'explained' && explained.explanation.path).toEqual({ reason: 'it has 40,000 steps' });
});

describe('refuses', () => {
  it.each([
    ['no object', 'explain', 'reply must be an object, got "explain"'],
    ['no answer', {}, 'reply.explanation must be an object, got undefined'],
    ['a time to wait that is none', { wait_s: -1 }, 'reply.wait_s must be 0 or more seconds, got -1'],
    ['no findings', reply({ findings: null }), 'reply.explanation.findings must be an array, got null'],
    ['more findings than there are causes and computes for', reply({ findings: new Array(201).fill(FINDING) }), 'reply.explanation.findings must be an array of at most 200, got an array of 201'],
    ['a worth that is no number', reply({ findings: [{ ...FINDING, worth_s: '1' }] }), 'reply.explanation.findings[0].worth_s must be a finite number, got "1"'],
    ['a row that is none', reply({ findings: [{ ...FINDING, rows: [-1] }] }), 'reply.explanation.findings[0].rows[0] must be a whole number, 0 or more, got -1'],
    ['a span without end', reply({ findings: [{ ...FINDING, spans_s: [[1]] }] }), 'reply.explanation.findings[0].spans_s[0] must be an array of 2, got an array of 1'],
    ['nothing to say without a reason', { explanation: null }, 'reply.reason must be a string, got undefined'],
    ['frames that are none', reply({ path: { frames: 5 } }), 'reply.explanation.path.frames must be base64, got 5'],
    ['frames without a path', reply({ path: { frames: framesOf({}) } }), 'reply.explanation.path.frames must be a stream with a path'],
    ['a step of no name', reply({ path: { frames: framesOf({ path: { columns: STEPS } }) } }), 'path.name[1] must be from 0 to less than 0, got 0']
  ])('%s', (_, data, message) => { expect(() => decodeExplained(data)).toThrow(message); });
});
