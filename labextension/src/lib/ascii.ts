/** Looks into text without making strings of it. */

/** The bytes of a text in lower case; null: not all of it is ASCII. */
export function asciiBytes(text: string): Uint8Array | null {
  const bytes = new TextEncoder().encode(text.toLowerCase());
  return bytes.every(byte => byte < 128) ? bytes : null;
}

/**
 * Whether `text` contains `wanted`, which is in lower case, whatever the case of the text.
 *
 * Null where the text is not all ASCII: some letters beyond it become ASCII in lower case.
 */
export function asciiIncludes(text: Uint8Array, wanted: Uint8Array): boolean | null {
  let found = wanted.length === 0;
  for (let i = 0; i < text.length; i += 1) {
    if ((text[i] as number) > 127) {
      return null;
    }
    found ||= beginsAt(text, i, wanted);
  }
  return found;
}

function beginsAt(text: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let k = 0; k < wanted.length; k += 1) {
    const byte = text[at + k] ?? 0;
    if ((byte > 64 && byte < 91 ? byte + 32 : byte) !== wanted[k]) {
      return false;
    }
  }
  return true;
}
