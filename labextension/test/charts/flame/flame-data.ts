/** Samples spelled out, as the kernel sends them. */

/** A stack from the outermost call on, and the seconds its samples stand for. */
export interface Sample {
  readonly stack: readonly string[];
  readonly seconds: number;
  readonly prefix?: string;
  readonly bin?: number;
}

export function wireOf(samples: readonly Sample[], nBins = 1): Record<string, unknown> {
  const calls = new Map<string, number>();
  const parent: number[] = [];
  const fn: number[] = [];
  const functions: string[] = [];
  const placeOf = (names: string[], name: string): number => {
    if (!names.includes(name)) {
      names.push(name);
    }
    return names.indexOf(name);
  };
  const callOf = (stack: readonly string[]): number => {
    if (stack.length === 0) {
      return -1;
    }
    const key = stack.join('/');
    const known = calls.get(key);
    if (known !== undefined) {
      return known;
    }
    const caller = callOf(stack.slice(0, -1));
    parent.push(caller);
    fn.push(placeOf(functions, stack.at(-1) ?? ''));
    calls.set(key, parent.length - 1);
    return parent.length - 1;
  };
  const prefixes: string[] = [];
  const node = samples.map(sample => callOf(sample.stack));
  const prefix = samples.map(sample => placeOf(prefixes, sample.prefix ?? 'x'));
  const columns = {
    start_s: Float64Array.from({ length: nBins }, (_, i) => 100 + i),
    parent: Int32Array.from(parent),
    function: Int32Array.from(fn),
    bin: Uint16Array.from(samples.map(sample => sample.bin ?? 0)),
    prefix: Uint16Array.from(prefix),
    node: Int32Array.from(node),
    count: Uint32Array.from(samples.map(sample => Math.round(sample.seconds * 100))),
    seconds: Float32Array.from(samples.map(sample => sample.seconds))
  };
  const parts = Object.values(columns).map(values => new Uint8Array(values.buffer));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return {
    interval_s: 0.01,
    bin_s: 1,
    functions: functions.map(name => [name, `${name}.py`, 1]),
    prefixes,
    n_left_out: 0,
    lengths: Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.length])),
    columns: new DataView(bytes.buffer)
  };
}
