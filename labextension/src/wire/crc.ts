/** The checksum of frames, and of the source of cells: on its own, as JupyterLab's start needs it and nothing else of the wire. */

let crcTables: readonly Uint32Array[] | null = null;

/** What a byte does to a checksum that 0 to 3 bytes come after. */
function makeCrcTables(): readonly Uint32Array[] {
  const tables = Array.from({ length: 4 }, () => new Uint32Array(256));
  for (let i = 0; i < 256; i += 1) {
    let c = i;
    for (let bit = 0; bit < 32; bit += 1) {
      c = (c & 1) === 0 ? c >>> 1 : (c >>> 1) ^ 0xedb88320;
      if (bit % 8 === 7) {
        (tables[bit >> 3] as Uint32Array)[i] = c;
      }
    }
  }
  return tables;
}

/** As zlib's; four bytes a step. */
export function crc32(b: Uint8Array): number {
  const [t0, t1, t2, t3] = (crcTables ??= makeCrcTables()) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  const at = (table: Uint32Array, i: number): number => table[i & 255] as number;
  let c = -1;
  let i = 0;
  for (const n = b.length - 3; i < n; i += 4) {
    c ^= (b[i] as number) | ((b[i + 1] as number) << 8) | ((b[i + 2] as number) << 16) | ((b[i + 3] as number) << 24);
    c = at(t3, c) ^ at(t2, c >>> 8) ^ at(t1, c >>> 16) ^ at(t0, c >>> 24);
  }
  for (; i < b.length; i += 1) {
    c = at(t0, c ^ (b[i] as number)) ^ (c >>> 8);
  }
  return ~c >>> 0;
}
