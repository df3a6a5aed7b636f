/** Dependencies as `taskscope/report/embed.py` packs them; unpacked when first asked for. */
import type { LinkRow, LinkRows } from '../../wire';
import { MAX_LINKS, WireError } from '../../wire';
import { unpack } from './packed';

const UNKNOWN = 0xffffffff;

/** Tells what a row needs and what needs it; null: that is not known. */
export type LinksOfRow = (row: number) => LinkRows | null;

/** Rejects with a WireError or TypeError where they are damaged. */
export async function readLinks(packed: Record<string, unknown>, nRows: number): Promise<LinksOfRow> {
  const reader = new DenseReader(await unpack(packed.data, packed.bytes, 'data.links'));
  const counts = reader.u32(nRows);
  const otherNeeds = reader.u32(nRows);
  const otherUsers = reader.u32(nRows);
  const target = reader.u32(counts.reduce((sum, n) => sum + n, 0));
  const source = new Uint32Array(target.length);
  let edge = 0;
  counts.forEach((n, row) => {
    for (const end = edge + n; edge < end; edge += 1) {
      const before = target[edge] as number;
      const needed = row - ((before >>> 1) ^ -(before & 1));
      if (needed < 0 || needed >= nRows) {
        throw new WireError('data.links', `rows from 0 to ${nRows - 1}`, needed);
      }
      source[edge] = row;
      target[edge] = needed;
    }
  });
  if (!reader.isAtEnd) {
    throw new WireError('data.links', 'dependencies of the rows and nothing else', reader.bytes.length);
  }
  return row => {
    const needs = otherNeeds[row] ?? UNKNOWN;
    if (needs === UNKNOWN) {
      return null;
    }
    const dependencies = ends(source, target, row);
    const dependents = ends(target, source, row);
    return {
      dependencies: dependencies.slice(0, MAX_LINKS).map(toLink),
      nDependencies: dependencies.length + needs,
      dependents: dependents.slice(0, MAX_LINKS).map(toLink),
      nDependents: dependents.length + (otherUsers[row] ?? 0)
    };
  };
}

function ends(from: Uint32Array, to: Uint32Array, row: number): number[] {
  const found: number[] = [];
  for (let i = from.indexOf(row); i !== -1; i = from.indexOf(row, i + 1)) {
    found.push(to[i] as number);
  }
  return found;
}

/** A row of the page has its key there. */
function toLink(row: number): LinkRow {
  return { row, key: '' };
}

/** Steps through bytes that hold columns one after the other, each plane by plane. */
class DenseReader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  u32(n: number): Uint32Array {
    const planes = this.bytes.subarray(this.#at, this.#at + 4 * n);
    if (planes.length < 4 * n) {
      throw new WireError('data.links', `${this.#at + 4 * n} bytes unpacked`, this.bytes.length);
    }
    this.#at += 4 * n;
    const values = new Uint32Array(n);
    for (let i = 0; i < n; i += 1) {
      const low = (planes[i] ?? 0) | ((planes[n + i] ?? 0) << 8);
      values[i] = low | ((planes[2 * n + i] ?? 0) << 16) | ((planes[3 * n + i] ?? 0) << 24);
    }
    return values;
  }
}
