/** The first buffers of a batch to task columns; every length is checked before anything is read. */
import { Field, WireError } from './check';
import type { KeyColumns, TaskColumns } from './schema';
import { BUFFERS, MAX_KEY_DIMS, TEXT_KEY, UNKNOWN_CODE } from './schema';

export type WireBuffer = ArrayBuffer | ArrayBufferView;

/** Views of the buffers' bytes, as long as `count` asks for. */
export function checkBuffers(buffers: readonly WireBuffer[], count: number): Uint8Array[] {
  return BUFFERS.map(({ name, bytes, row }, i) => {
    const view = bytesOf(buffers[i], name);
    if (row && view.byteLength !== count * bytes) {
      throw new WireError(`buffers.${name}`, `${count * bytes} bytes for ${count} tasks`, view.byteLength);
    }
    if (view.byteLength % bytes !== 0) {
      throw new WireError(`buffers.${name}`, `a multiple of ${bytes} bytes`, view.byteLength);
    }
    return view;
  });
}

/** The bytes of the buffer called `name`. */
export function bytesOf(buffer: WireBuffer | undefined, name: string): Uint8Array {
  if (buffer !== undefined && ArrayBuffer.isView(buffer)) {
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }
  // Another realm's ArrayBuffer is no instance of this one's.
  if (Object.prototype.toString.call(buffer) === '[object ArrayBuffer]') {
    return new Uint8Array(buffer as ArrayBuffer);
  }
  throw new WireError(`buffers.${name}`, 'an ArrayBuffer or a view of one', buffer);
}

/** Decode checked buffers; `run` says which compute each task belongs to. */
export function decodeColumns(
  views: readonly Uint8Array[],
  run: Int32Array,
  baseS: number,
  nErrors: number
): TaskColumns {
  const view = (i: number): Uint8Array => views[i] ?? new Uint8Array();
  const count = run.length;
  const laneStatus = u16(view(0));
  const stopUs = u32(view(2));
  const durationS = f32(view(3));
  const columns = {
    run,
    lane: new Uint16Array(count),
    group: u16(view(1)),
    status: new Uint8Array(count),
    scheduler: new Uint8Array(count),
    startS: new Float64Array(count),
    stopS: new Float64Array(count),
    cpuShare: u16(view(4)),
    sizeCode: u16(view(5)),
    keys: decodeKeys(view(6), view(7), view(8), view(9)),
    error: u16(view(10))
  };
  let nFailed = 0;
  for (let i = 0; i < count; i += 1) {
    const code = laneStatus[i] ?? 0;
    const duration = durationS[i] ?? NaN;
    if (!(duration >= 0 && duration < Infinity)) {
      new Field(duration, `buffers.duration_s[${i}]`).fail('0 or more');
    }
    const stop = baseS + (stopUs[i] ?? 0) * 1e-6;
    columns.lane[i] = code & 0x1fff;
    const status = (code >> 13) & 3;
    columns.status[i] = status;
    nFailed += status === 0 ? 0 : 1;
    columns.scheduler[i] = code >> 15;
    columns.stopS[i] = stop;
    columns.startS[i] = stop - duration;
  }
  expectLength('error', nFailed, columns.error.length);
  columns.error.forEach((code, i) => {
    if (code >= nErrors && code !== UNKNOWN_CODE) {
      new Field(code, `buffers.error[${i}]`).fail(`less than ${nErrors}, or ${UNKNOWN_CODE}`);
    }
  });
  return columns;
}

function decodeKeys(dims: Uint8Array, ints: Uint8Array, lengths: Uint8Array, text: Uint8Array): KeyColumns {
  const keys = { dims: dims.slice(), ints: i32(ints), lengths: u16(lengths), text: text.slice() };
  let nInts = 0;
  let nTexts = 0;
  for (let i = 0; i < dims.length; i += 1) {
    const n = dims[i] ?? 0;
    if (n === TEXT_KEY) {
      nTexts += 1;
    } else if (n <= MAX_KEY_DIMS) {
      nInts += n;
    } else {
      new Field(n, `buffers.key_dims[${i}]`).fail(`0 to ${MAX_KEY_DIMS}, or ${TEXT_KEY}`);
    }
  }
  const nBytes = keys.lengths.reduce((sum, n) => sum + n, 0);
  expectLength('key_ints', nInts, keys.ints.length);
  expectLength('key_lengths', nTexts, keys.lengths.length);
  expectLength('key_text', nBytes, keys.text.length);
  return keys;
}

function expectLength(name: string, expected: number, got: number): void {
  if (expected !== got) {
    throw new WireError(`buffers.${name}`, `${expected} entries`, got);
  }
}

// slice() copies, and so aligns. Every platform that runs a browser is little endian, as the wire is.
function u16(bytes: Uint8Array): Uint16Array {
  return new Uint16Array(bytes.slice().buffer);
}

function u32(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer);
}

function i32(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.slice().buffer);
}

function f32(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
