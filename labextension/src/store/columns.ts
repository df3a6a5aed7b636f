/** Typed arrays that grow by half when they are full, and lose their oldest entries. */

type Growable = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

/** `array` if it has room for `length` entries, else a larger copy. */
export function roomFor<T extends Growable>(array: T, length: number): T {
  if (length <= array.length) {
    return array;
  }
  const make = array.constructor as new (n: number) => T;
  const larger = new make(Math.max(length, Math.ceil(array.length * 1.5), 64));
  larger.set(array);
  return larger;
}

/** The first `n` entries without the first `count`; a copy only where most of the room would stay unused. */
export function withoutFirst<T extends Growable>(array: T, count: number, n: number): T {
  if ((n - count) * 4 < array.length) {
    return array.slice(count, n) as T;
  }
  array.copyWithin(0, count, n);
  return array;
}
