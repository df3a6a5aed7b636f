/** Numbers and hostile text as people read them; the same words as the kernel's static result uses. */

/** Shown where a number is not known. */
export const UNKNOWN = '–';

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
/** Characters that cannot be seen, or that reorder others, as Python writes them. */
export const HIDDEN = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}';
const EACH_HIDDEN = new RegExp(`[${HIDDEN}]`, 'gu');

/** A duration with three digits: `42.1 µs`, `250 ms`, `1 min 15 s`. */
export function formatDuration(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) {
    return UNKNOWN;
  }
  if (seconds < 0) {
    return `-${formatDuration(-seconds)}`;
  }
  if (seconds >= 59.95) {
    return longDuration(Math.round(seconds));
  }
  for (const [factor, unit] of [[1, 's'], [1e3, 'ms'], [1e6, 'µs']] as const) {
    if (Math.round(seconds * factor * 1e4) >= 1e4) {
      return `${threeDigits(seconds * factor)} ${unit}`;
    }
  }
  return seconds === 0 ? '0 s' : `${threeDigits(seconds * 1e9)} ns`;
}

function longDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's']
  ] as const;
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ');
}

function threeDigits(value: number): string {
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return String(Number(value.toFixed(digits)));
}

/** A size in decimal units with three digits: `1.23 MB`. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null || !Number.isFinite(bytes)) {
    return UNKNOWN;
  }
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${threeDigits(value)} ${BYTE_UNITS[unit] ?? ''}`;
}

/** A count with its thousands separated: `1,234,567`. */
export function formatCount(n: number | null): string {
  return n === null || !Number.isFinite(n) ? UNKNOWN : n.toLocaleString('en-US');
}

/** A fraction as a percentage; only exactly all is 100%, and only nothing is 0%. */
export function formatPercent(fraction: number | null): string {
  if (fraction === null || !Number.isFinite(fraction)) {
    return UNKNOWN;
  }
  if (fraction > 0 && fraction < 0.01) {
    return '<1%';
  }
  if (fraction > 0.99 && fraction < 1) {
    return '>99%';
  }
  return `${Math.round(fraction * 100)}%`;
}

/** Parts of a whole as percentages that add up: those that lose most by rounding down are rounded up. */
export function formatShares(parts: readonly number[], total: number): string[] {
  const shares = parts.map(part => (100 * part) / total);
  const losses = shares.map((share, i) => [share % 1, i] as const).sort(([a], [b]) => b - a);
  const nUp = Math.round(losses.reduce((sum, [loss]) => sum + loss, 0));
  const up = new Set(losses.slice(0, nUp).map(([, i]) => i));
  return shares.map((share, i) => (share >= 1 && share <= 99 ? `${Math.floor(share) + Number(up.has(i))}%` : formatPercent(share / 100)));
}

/**
 * One line of text in which every character can be seen: control, bidirectional, private and
 * unpaired characters become escapes, and what is longer than `limit` loses its middle.
 */
export function printable(text: string, limit = 200): string {
  return shortened(text, limit).replace(EACH_HIDDEN, escapeCharacter);
}

/** Counts characters, of which some are two units of a string; a text of a megabyte is not taken apart. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit || (text.length <= 2 * limit && Array.from(text).length <= limit)) {
    return text;
  }
  const tail = Math.floor(limit / 4);
  const head = limit - tail - 1;
  return `${Array.from(text.slice(0, 2 * head)).slice(0, head).join('')}…${Array.from(text.slice(-2 * tail)).slice(-tail).join('')}`;
}

/** A character that cannot be seen as an escape: `\n`, `\x1b`, `\u202e`. */
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
