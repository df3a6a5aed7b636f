/** JupyterLab's colours, with fallbacks for pages that have none of its variables. */
import type { Rgb } from './palette';
import { luminance, parseColour } from './palette';

export interface Theme {
  readonly dark: boolean;
  readonly paper: string;
  /** The ground of a lane, a shade off the paper. */
  readonly lane: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
  readonly error: string;
  readonly font: string;
}

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
  font: FONT
};

export const DARK: Theme = {
  dark: true,
  paper: '#161b22',
  lane: '#20262e',
  ink: '#e6edf3',
  faint: '#9aa4af',
  line: '#3d444d',
  accent: '#64b5f6',
  error: '#ff5c5c',
  font: FONT
};

/**
 * The theme that a page's variables describe.
 *
 * @param read gives the value of a CSS variable, empty where there is none
 * @param prefersDark what the operating system asks for; only used where the page does not say
 */
export function themeFrom(read: (name: string) => string, prefersDark: boolean): Theme {
  const paper = parseColour(read('--jp-layout-color0'));
  const base = (paper === null ? prefersDark : luminance(paper) < 0.2) ? DARK : LIGHT;
  if (paper === null) {
    return base;
  }
  const pick = (name: string, fallback: string): string => css(parseColour(read(name))) ?? fallback;
  return {
    ...base,
    paper: css(paper) ?? base.paper,
    lane: laneShade(paper, base.dark),
    line: pick('--jp-border-color2', base.line),
    font: read('--jp-ui-font-family').trim() || base.font
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

function css(colour: Rgb | null): string | null {
  return colour === null ? null : `rgb(${colour.join(', ')})`;
}
