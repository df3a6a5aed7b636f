/** What a flame graph is drawn from, as the kernel sends it; checked once, here. */
import { Field, WireError, bytesOf } from '../../wire';
import { isRecord } from '../../wire/check';

export interface FlameFunction {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

export interface FlameData {
  /** When each bin of the timeline begins, in seconds after the recorder's zero, and how long all of them last. */
  readonly startS: Float64Array;
  readonly binS: number;
  readonly functions: readonly FlameFunction[];
  readonly prefixes: readonly string[];
  /** Of each call the one that made it, -1 for the task's own function; it stands before. */
  readonly parent: Int32Array;
  readonly fn: Int32Array;
  /** Rows of samples: bin, prefix, innermost call (-1: none), how many, and the seconds they stand for. */
  readonly bin: Uint16Array;
  readonly prefix: Uint16Array;
  readonly node: Int32Array;
  readonly count: Uint32Array;
  readonly seconds: Float32Array;
  readonly nLeftOut: number;
}

/** Read what the kernel sent; null where there is nothing yet.
 *
 * @throws WireError where it is not what it should be
 */
export function decodeFlame(value: unknown): FlameData | null {
  const profile = new Field(value, 'profile');
  if (!isRecord(value) || value.columns === undefined) {
    return null;
  }
  const bytes = bytesOf(value.columns);
  let at = 0;
  // A copy begins where its elements may lie.
  const take = (name: string, width: number): ArrayBuffer => {
    const length = profile.at('lengths').at(name);
    const begin = at;
    at += length.count() * width;
    return at <= bytes.length ? bytes.slice(begin, at).buffer : length.fail(`of ${bytes.length} bytes in all`);
  };
  const data: FlameData = {
    startS: new Float64Array(take('start_s', 8)),
    binS: profile.at('bin_s').number(),
    parent: new Int32Array(take('parent', 4)),
    fn: new Int32Array(take('function', 4)),
    bin: new Uint16Array(take('bin', 2)),
    prefix: new Uint16Array(take('prefix', 2)),
    node: new Int32Array(take('node', 4)),
    count: new Uint32Array(take('count', 4)),
    seconds: new Float32Array(take('seconds', 4)),
    functions: profile.at('functions').list().map(functionOf),
    prefixes: profile.at('prefixes').list().map(name => name.text()),
    nLeftOut: profile.at('n_left_out').count()
  };
  check(data);
  return data;
}

function functionOf(field: Field): FlameFunction {
  const [name, file, line] = field.tuple(3) as [Field, Field, Field];
  return { name: name.text(), file: file.text(), line: line.count() };
}

function check({ startS, functions, prefixes, parent, fn, bin, prefix, node, count, seconds }: FlameData): void {
  const demand = (holds: boolean, expectation: string): void => {
    if (!holds) {
      throw new WireError('profile', expectation, 'one that contradicts itself');
    }
  };
  demand(parent.length === fn.length, 'calls that each have a function');
  demand(parent.every((caller, call) => caller >= -1 && caller < call), 'calls that stand after those that made them');
  demand(fn.every(place => place >= 0 && place < functions.length), 'calls of known functions');
  demand([prefix, node, count, seconds].every(column => column.length === bin.length), 'rows that have all columns');
  demand(bin.every(place => place < startS.length), 'rows of known bins');
  demand(prefix.every(place => place < prefixes.length), 'rows of known prefixes');
  demand(node.every(call => call >= -1 && call < parent.length), 'rows of known calls');
}
