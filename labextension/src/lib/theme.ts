/** JupyterLab's colours, with fallbacks for pages that have none of its variables. */
import type { Rgb } from './palette';
import { contrast, luminance } from './palette';

export interface Theme {
  readonly dark: boolean;
  readonly paper: string;
  /** The ground of a lane, a shade off the paper. */
  readonly lane: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  /** The page's brand where it can be told from the paper. */
  readonly accent: string;
  /** What failed, and what its stripes alternate with. */
  readonly error: string;
  readonly errorGap: string;
  /** What a person stopped: it is no fault. */
  readonly stopped: string;
  readonly font: string;
}

/** The contrast that parts of a picture need with what is around them (WCAG 1.4.11). */
const MIN_CONTRAST = 3;

const FONT = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif';

export const LIGHT: Theme = {
  dark: false,
  paper: '#ffffff',
  lane: '#f4f5f7',
  ink: '#1f2328',
  faint: '#59636e',
  line: '#d8dde3',
  accent: '#1565c0',
  error: '#d60000',
  errorGap: '#280000',
  stopped: '#5f6b7a',
  font: FONT
};

export const DARK: Theme = {
  dark: true,
  paper: '#161b22',
  lane: '#20262e',
  ink: '#e6edf3',
  faint: '#a3adb8',
  line: '#3d444d',
  accent: '#64b5f6',
  error: '#ff5c5c',
  errorGap: '#300808',
  stopped: '#a3adb8',
  font: FONT
};

/** What a page says of its looks. */
export interface PageStyle {
  /** The value of a CSS variable, empty where there is none. */
  text(name: string): string;
  /** The same as a colour, null where it is none. */
  colour(name: string): Rgb | null;
  /** What holds where the page's own ground is not known. */
  readonly isDark: boolean;
}

/** The theme that a page's variables describe. */
export function themeFrom(page: PageStyle): Theme {
  const paper = page.colour('--jp-layout-color0');
  const base = (paper === null ? page.isDark : luminance(paper) < 0.2) ? DARK : LIGHT;
  if (paper === null) {
    return base;
  }
  const [line, brand] = [page.colour('--jp-border-color2'), page.colour('--jp-brand-color1')];
  return {
    ...base,
    paper: css(paper),
    lane: laneShade(paper, base.dark),
    line: line === null ? base.line : css(line),
    accent: brand === null || contrast(brand, paper) < MIN_CONTRAST ? base.accent : css(brand),
    font: page.text('--jp-ui-font-family').trim() || base.font
  };
}

function laneShade(paper: Rgb, dark: boolean): string {
  const towards = dark ? 255 : 0;
  const share = dark ? 0.06 : 0.04;
  const [red, green, blue] = paper.map(part => Math.round(part + (towards - part) * share)) as [
    number,
    number,
    number
  ];
  return `rgb(${red}, ${green}, ${blue})`;
}

function css(colour: Rgb): string {
  return `rgb(${colour.join(', ')})`;
}
