/** Task rows as `taskscope/report/dense.py` packs them, back to the buffers of a message. */
import { BUFFERS, TEXT_KEY, UNKNOWN_CODE, WireError } from '../../wire';
import { LaneTurns } from './lane-turns';

const LANE_MASK = 0x1fff;
const STATUS_MASK = 0x6000;
const UNKNOWN_SHARE = 255;
const SHARE_SCALE = (UNKNOWN_CODE - 1) / 254;

/** What a message says of its dense rows. */
export interface DenseHead {
  readonly count: number;
  /** The base of `stop_us`. */
  readonly baseS: number;
  /** When tick 0 was, and how long a tick is. */
  readonly startS: number;
  readonly tickS: number;
}

/** Steps through bytes that hold columns one after the other. */
export class DenseReader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  take(n: number): Uint8Array {
    const taken = this.bytes.subarray(this.#at, this.#at + n);
    if (taken.length < n) {
      throw new WireError('data.data', `${this.#at + n} bytes unpacked`, this.bytes.length);
    }
    this.#at += n;
    return taken;
  }

  u16(n: number): Uint16Array {
    const planes = this.take(2 * n);
    return Uint16Array.from({ length: n }, (_, i) => (planes[i] ?? 0) | ((planes[n + i] ?? 0) << 8));
  }

  u32(n: number): Uint32Array {
    const planes = this.take(4 * n);
    const values = new Uint32Array(n);
    for (let i = 0; i < n; i += 1) {
      const low = (planes[i] ?? 0) | ((planes[n + i] ?? 0) << 8);
      values[i] = low | ((planes[2 * n + i] ?? 0) << 16) | ((planes[3 * n + i] ?? 0) << 24);
    }
    return values;
  }
}

/** Read the rows of one message as its buffers, in the order of `BUFFERS`. */
export function readDense(reader: DenseReader, head: DenseHead): Uint8Array[] {
  const turnStatus = reader.u16(head.count);
  const group = reader.u16(head.count);
  const { laneStatus, stopUs, durationS } = times(reader, head, turnStatus);
  const cpuShare = Uint16Array.from(reader.take(head.count), share =>
    share === UNKNOWN_SHARE ? UNKNOWN_CODE : Math.round(share * SHARE_SCALE)
  );
  const sizeCode = reader.u16(head.count);
  const lastSize = new Uint16Array(UNKNOWN_CODE + 1);
  sizeCode.forEach((change, i) => {
    const g = group[i] ?? 0;
    sizeCode[i] = lastSize[g] = (lastSize[g] ?? 0) + change;
  });
  const dims = reader.take(head.count);
  const ints = keyInts(reader, dims, group);
  const lengths = reader.u16(dims.reduce((n, d) => n + (d === TEXT_KEY ? 1 : 0), 0));
  const text = reader.take(lengths.reduce((sum, n) => sum + n, 0));
  const error = reader.u16(laneStatus.reduce((n, code) => n + ((code & STATUS_MASK) === 0 ? 0 : 1), 0));
  const buffers = [laneStatus, group, stopUs, durationS, cpuShare, sizeCode, dims, ints, lengths, text, error];
  return BUFFERS.map((_, i) => {
    const { buffer, byteOffset, byteLength } = buffers[i] ?? text;
    return new Uint8Array(buffer, byteOffset, byteLength);
  });
}

interface Times {
  laneStatus: Uint16Array;
  stopUs: Uint32Array;
  durationS: Float32Array;
}

function times(reader: DenseReader, head: DenseHead, turnStatus: Uint16Array): Times {
  const gaps = reader.u32(head.count);
  const durations = reader.u32(head.count);
  const turns = new LaneTurns(LANE_MASK + 1);
  const lastStop = new Uint32Array(LANE_MASK + 1);
  const laneStatus = new Uint16Array(head.count);
  const stopUs = new Uint32Array(head.count);
  const durationS = new Float32Array(head.count);
  for (let i = 0; i < head.count; i += 1) {
    const code = turnStatus[i] ?? 0;
    const lane = turns.take(code & LANE_MASK);
    const duration = durations[i] ?? 0;
    // Differences are modulo 2**32.
    lastStop[lane] = (lastStop[lane] ?? 0) + (gaps[i] ?? 0) + duration;
    const stop = lastStop[lane] ?? 0;
    turns.put(lane, stop);
    laneStatus[i] = (code & ~LANE_MASK) | lane;
    stopUs[i] = Math.max(Math.round((head.startS + stop * head.tickS - head.baseS) * 1e6), 0);
    durationS[i] = duration * head.tickS;
  }
  return { laneStatus, stopUs, durationS };
}

function keyInts(reader: DenseReader, dims: Uint8Array, group: Uint16Array): Int32Array {
  const starts = new Int32Array(dims.length);
  let total = 0;
  let most = 0;
  dims.forEach((d, i) => {
    starts[i] = total;
    total += d === TEXT_KEY ? 0 : d;
    most = d === TEXT_KEY ? most : Math.max(most, d);
  });
  const ints = new Int32Array(total);
  for (let place = 0; place < most; place += 1) {
    const has = (d: number): boolean => d !== TEXT_KEY && d > place;
    const changes = reader.u32(dims.reduce((n, d) => n + (has(d) ? 1 : 0), 0));
    const last = new Int32Array(UNKNOWN_CODE + 1);
    let next = 0;
    dims.forEach((d, i) => {
      if (has(d)) {
        const change = changes[next] ?? 0;
        const g = group[i] ?? 0;
        next += 1;
        ints[(starts[i] ?? 0) + place] = last[g] = ((last[g] ?? 0) + ((change >>> 1) ^ -(change & 1))) | 0;
      }
    });
  }
  return ints;
}
