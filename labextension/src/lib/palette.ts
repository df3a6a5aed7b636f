/** The colours of prefixes: given by first appearance, never by hash; far apart for colour-blind eyes. Reds come last, for red is what failed. */

export type Rgb = readonly [red: number, green: number, blue: number];

export const PALETTE: readonly string[] =
  '#6887ff #4cd676 #a67f38 #006d91 #dca0d6 #3ca694 #9b54c8 #94ab39 #ccb93e #7b566e #97c4aa #7541b8 #667b9e #aa9afc #ac5107 #9c84c7 #3375e3 #ac606d #b11f4b #f86685'.split(
    ' '
  );

/** The colour of the `place`-th prefix; after the last one they begin anew. */
export function paletteColour(place: number): string {
  return PALETTE[place % PALETTE.length] ?? '#667b9e';
}

/** The parts of `#rgb`, `#rrggbb`, `rgb(…)` or `rgba(…)`, as our own colours are written; null for anything else. */
export function parseColour(text: string): Rgb | null {
  const value = text.trim();
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value)?.[1];
  if (hex !== undefined) {
    const digits = hex.length === 3 ? hex.replace(/./g, '$&$&') : hex;
    const n = Number.parseInt(digits, 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
  }
  const parts = /^rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)/.exec(value);
  return parts === null ? null : [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/** WCAG relative luminance, 0 black to 1 white. */
export function luminance([red, green, blue]: Rgb): number {
  const linear = (part: number): number => {
    const s = part / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** WCAG contrast ratio of two colours, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(colour: Rgb): string {
  return luminance(colour) > 0.179 ? '#000000' : '#ffffff';
}
