/** How each kind of activity looks: a colour, and a pattern for those who do not tell colours apart. */
import type { Rgb } from '../../lib/palette';
import type { ActivityKind } from '../../wire';

export interface KindStyle {
  readonly light: Rgb;
  readonly dark: Rgb;
  /** Whether a pixel of CSS is of the colour, not of the paler one that it alternates with. */
  readonly isOn: (xPx: number, yPx: number) => boolean;
  /** The same for a swatch, of the custom properties `--on` and `--off`. */
  readonly css: string;
  /** Whether it is drawn as high as a bar: the thread did nothing else meanwhile. */
  readonly isWhole: boolean;
}

type Pattern = Pick<KindStyle, 'isOn' | 'css'>;

const place = (at: number, period: number): number => ((at % period) + period) % period;
const every = (at: number, period: number): boolean => place(at, period) < period / 2;

const DIAGONAL: Pattern = {
  isOn: (x, y) => every(x + y, 6),
  css: 'repeating-linear-gradient(135deg, var(--on) 0 2px, var(--off) 2px 4px)'
};
const BARS: Pattern = {
  isOn: x => every(x, 4),
  css: 'repeating-linear-gradient(90deg, var(--on) 0 2px, var(--off) 2px 4px)'
};
const CHECKS: Pattern = {
  isOn: (x, y) => every(x, 4) !== every(y, 4),
  css: 'repeating-conic-gradient(var(--on) 0 25%, var(--off) 0 50%) 0 0 / 4px 4px'
};
const DOTS: Pattern = {
  isOn: (x, y) => every(x, 4) && every(y, 4),
  css: 'repeating-conic-gradient(var(--on) 0 25%, var(--off) 0 100%) 0 0 / 4px 4px'
};
const CROSSES: Pattern = {
  isOn: (x, y) => place(x + y, 8) < 2 || place(x - y, 8) < 2,
  css: 'repeating-linear-gradient(135deg, var(--on) 0 1px, transparent 1px 4px), repeating-linear-gradient(45deg, var(--on) 0 1px, var(--off) 1px 4px)'
};
const PLAIN: Pattern = { isOn: () => true, css: 'var(--on)' };

const RED = { light: [208, 16, 32], dark: [255, 88, 88] } as const;
const ORANGE = { light: [214, 104, 0], dark: [255, 160, 64] } as const;
const BLACK = { light: [48, 0, 8], dark: [255, 214, 214] } as const;
const GREY = { light: [92, 99, 108], dark: [170, 178, 188] } as const;

export const KIND_STYLES: Record<ActivityKind, KindStyle> = {
  transfer: { ...RED, ...DIAGONAL, isWhole: false },
  'disk-read': { ...ORANGE, ...BARS, isWhole: false },
  'disk-write': { ...ORANGE, ...CHECKS, isWhole: false },
  deserialize: { ...GREY, ...DOTS, isWhole: false },
  serialize: { ...GREY, ...DOTS, isWhole: false },
  other: { ...GREY, ...PLAIN, isWhole: false },
  'failed-attempt': { ...BLACK, ...CROSSES, isWhole: true }
};

/** What stands between the marks of a pattern. */
export function gapOf([red, green, blue]: Rgb, paper: Rgb): Rgb {
  const pale = (from: number, to: number): number => Math.round(from + (to - from) * 0.72);
  return [pale(red, paper[0]), pale(green, paper[1]), pale(blue, paper[2])];
}

/** The properties of a swatch. */
export function swatchStyle(style: KindStyle, isDark: boolean, paper: Rgb | null): Record<string, string> {
  const on = isDark ? style.dark : style.light;
  return { background: style.css, '--on': cssColour(on), '--off': cssColour(gapOf(on, paper ?? on)) };
}

export function cssColour([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}
