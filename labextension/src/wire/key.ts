/** A task's key as the person wrote it. */
import { HIDDEN, escapeCharacter } from '../lib/format';

/** Python's `repr` of the tuple of a group's name and some integers. */
export function tupleKey(name: string, ints: readonly number[]): string {
  const rest = ints.length === 0 ? ',' : `, ${ints.join(', ')}`;
  return `(${pythonRepr(name)}${rest})`;
}

const UNPRINTABLE = new RegExp(`[${HIDDEN}]|(?! )\\p{Zs}`, 'gu');

/** Python's `repr` of a string. */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text
    .replace(/\\/g, '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replace(UNPRINTABLE, escapeCharacter);
  return quote + inner + quote;
}
