/** The checksum of zlib and PNG. */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let code = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    code = (code & 1) === 0 ? code >>> 1 : (code >>> 1) ^ 0xedb88320;
  }
  return code;
});

/** The CRC-32 of some bytes. */
export function crc32(bytes: Uint8Array): number {
  let code = 0xffffffff;
  for (const byte of bytes) {
    code = (TABLE[(code ^ byte) & 255] as number) ^ (code >>> 8);
  }
  return (code ^ 0xffffffff) >>> 0;
}
