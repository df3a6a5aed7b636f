/** What is kept of each task by its row: key, CPU share, size of its result. */
import type { TaskColumns } from '../wire';
import { UNKNOWN_CODE } from '../wire';
import { roomFor, withoutFirst } from './columns';
import { KeyTable } from './key-table';

export class RowColumns {
  /** The first row that is held. */
  first = 0;
  /** The row that comes next. */
  next = 0;
  readonly keys = new KeyTable();
  #cpuShare = new Uint16Array(0);
  #sizeCode = new Uint16Array(0);

  /** Append all tasks but the first `skip`. */
  append(tasks: TaskColumns, skip: number): void {
    const n = this.next - this.first;
    const more = tasks.run.length - skip;
    this.keys.append(tasks.keys, skip);
    this.#cpuShare = roomFor(this.#cpuShare, n + more);
    this.#cpuShare.set(tasks.cpuShare.subarray(skip), n);
    this.#sizeCode = roomFor(this.#sizeCode, n + more);
    this.#sizeCode.set(tasks.sizeCode.subarray(skip), n);
    this.next += more;
  }

  /** Forget all rows before `row`. */
  drop(row: number): void {
    const [count, n] = [row - this.first, this.next - this.first];
    this.keys.drop(row);
    this.#cpuShare = withoutFirst(this.#cpuShare, count, n);
    this.#sizeCode = withoutFirst(this.#sizeCode, count, n);
    this.first = row;
  }

  /** CPU seconds per second of duration; null: unknown. */
  cpuShare(row: number): number | null {
    const share = this.#cpuShare[row - this.first] ?? UNKNOWN_CODE;
    return share === UNKNOWN_CODE ? null : share / 65534;
  }

  sizeBytes(row: number): number | null {
    const size = this.#sizeCode[row - this.first] ?? UNKNOWN_CODE;
    return size === UNKNOWN_CODE ? null : 2 ** (size / 1024) - 1;
  }
}
