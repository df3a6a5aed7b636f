/** Characters that cannot be seen, or that reorder others, as Python writes them. */
export const HIDDEN = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}';

/** One such character as an escape: `\n`, `\x1b`, `\u202e`. */
export function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const named = { 9: '\\t', 10: '\\n', 13: '\\r' }[code];
  if (named !== undefined) {
    return named;
  }
  const hex = code.toString(16);
  if (code < 0x100) {
    return `\\x${hex.padStart(2, '0')}`;
  }
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
