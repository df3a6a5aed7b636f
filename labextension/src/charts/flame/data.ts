/** What a flame graph is drawn from, as the kernel sends it; checked once, here. */

export interface FlameFunction {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

export interface FlameData {
  /** When each bin of the timeline begins, in seconds after the recorder's zero. */
  readonly startS: Float64Array;
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
  readonly intervalS: number | null;
  readonly nLeftOut: number;
}

const COLUMNS = [
  ['start_s', 8],
  ['parent', 4],
  ['function', 4],
  ['bin', 2],
  ['prefix', 2],
  ['node', 4],
  ['count', 4],
  ['seconds', 4]
] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Read what the kernel sent; null where there is nothing yet.
 *
 * @throws Error where it is not what it should be
 */
export function decodeFlame(value: unknown): FlameData | null {
  if (!isFields(value) || value.columns === undefined) {
    return null;
  }
  const bytes = bytesOf(value.columns);
  const parts = split(bytes, value.lengths);
  const data: FlameData = {
    startS: new Float64Array(parts.start_s),
    functions: listOf(value.functions).map(functionOf),
    prefixes: listOf(value.prefixes).map(textOf),
    parent: new Int32Array(parts.parent),
    fn: new Int32Array(parts.function),
    bin: new Uint16Array(parts.bin),
    prefix: new Uint16Array(parts.prefix),
    node: new Int32Array(parts.node),
    count: new Uint32Array(parts.count),
    seconds: new Float32Array(parts.seconds),
    intervalS: typeof value.interval_s === 'number' ? value.interval_s : null,
    nLeftOut: typeof value.n_left_out === 'number' ? value.n_left_out : 0
  };
  check(data);
  return data;
}

function split(bytes: Uint8Array, lengths: unknown): Record<(typeof COLUMNS)[number][0], ArrayBuffer> {
  const parts: Partial<Record<(typeof COLUMNS)[number][0], ArrayBuffer>> = {};
  let at = 0;
  for (const [name, width] of COLUMNS) {
    const n = isFields(lengths) ? lengths[name] : undefined;
    demand(typeof n === 'number' && Number.isInteger(n) && n >= 0, `a column ${name} must have a length`);
    const end = at + (n as number) * width;
    demand(end <= bytes.length, `the column ${name} is shorter than it says`);
    // A copy begins where its elements may lie.
    parts[name] = bytes.slice(at, end).buffer;
    at = end;
  }
  return parts as Record<(typeof COLUMNS)[number][0], ArrayBuffer>;
}

function check(data: FlameData): void {
  const { parent, fn, bin, prefix, node, count, seconds } = data;
  demand(parent.length === fn.length, 'a call has a function');
  demand(parent.every((caller, call) => caller >= -1 && caller < call), 'a call stands after the one that made it');
  demand(fn.every(place => place >= 0 && place < data.functions.length), 'a function must be known');
  demand([prefix, node, count, seconds].every(column => column.length === bin.length), 'rows have all columns');
  demand(bin.every(place => place < data.startS.length), 'a bin must be known');
  demand(prefix.every(place => place < data.prefixes.length), 'a prefix must be known');
  demand(node.every(call => call >= -1 && call < parent.length), 'a call must be known');
}

function demand(holds: boolean, expectation: string): void {
  if (!holds) {
    throw new Error(`the profile contradicts itself: ${expectation}`);
  }
}

function bytesOf(value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  demand(value instanceof ArrayBuffer, 'columns must be bytes');
  return new Uint8Array(value as ArrayBuffer);
}

function functionOf(value: unknown): FlameFunction {
  const [name, file, line] = listOf(value);
  demand(typeof line === 'number', 'a function has a line');
  return { name: textOf(name), file: textOf(file), line: line as number };
}

function listOf(value: unknown): readonly unknown[] {
  demand(Array.isArray(value), 'a list is missing');
  return value as readonly unknown[];
}

function textOf(value: unknown): string {
  demand(typeof value === 'string', 'a name must be text');
  return value as string;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
