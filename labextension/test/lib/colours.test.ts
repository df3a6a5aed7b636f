// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { PALETTE, contrast, inkOn, paletteColour, parseColour } from '../../src/lib/palette';
import { DARK, LIGHT, type PageStyle, type Theme, themeFrom } from '../../src/lib/theme';
import { english } from '../../src/lib/translate';
import { sharedCases } from '../shared-cases';

const rgb = (text: string): readonly [number, number, number] => parseColour(text) ?? [0, 0, 0];

describe('palette', () => {
  it('has twenty different colours, then begins anew', () => {
    expect(new Set(PALETTE).size).toBe(20);
    expect([paletteColour(0), paletteColour(19), paletteColour(20)]).toEqual(['#6887ff', '#f86685', '#6887ff']);
  });

  it('has no red among the first, which would look as what failed does', () => {
    const reds = PALETTE.flatMap((colour, place) => {
      const [red, green, blue] = rgb(colour);
      return red > 1.5 * Math.max(green, blue) - 10 && green < 130 ? [place] : [];
    });
    expect(reds).toEqual([14, 17, 18, 19]);
  });

  it('text on each colour has AA contrast', () => {
    const low = PALETTE.filter(colour => contrast(rgb(colour), rgb(inkOn(rgb(colour)))) < 4.5);
    expect(low).toEqual([]);
  });

  it('reads colours as CSS writes them', () => {
    expect(['#fff', '#B11F4B', ' rgb(1, 2, 3)', 'rgba(1 2 3 / 0.5)', 'red', ''].map(parseColour)).toEqual([
      [255, 255, 255], [177, 31, 75], [1, 2, 3], [1, 2, 3], null, null
    ]);
  });
});

function page(isDark: boolean, variables: Record<string, string> = {}): PageStyle {
  return { text: name => variables[name] ?? '', colour: name => parseColour(variables[name] ?? ''), isDark };
}

describe('theme', () => {
  it('has the colours of static pictures, as the palette has', () => {
    const shared = ({ paper, ink, faint, line }: Theme): unknown => ({ paper, ink, faint, line });
    expect({ palette: PALETTE, failed: LIGHT.error, light: shared(LIGHT), dark: shared(DARK) }).toEqual(sharedCases('colours'));
  });

  it('falls back to light or dark where the page has no variables', () => {
    expect([themeFrom(page(false)), themeFrom(page(true))]).toEqual([LIGHT, DARK]);
  });

  it('takes the page’s ground, whatever the operating system prefers', () => {
    const dark = page(false, { '--jp-layout-color0': '#111111', '--jp-border-color2': '#616161' });
    expect(themeFrom(dark)).toEqual({ ...DARK, paper: 'rgb(17, 17, 17)', lane: 'rgb(31, 31, 31)', line: 'rgb(97, 97, 97)' });
  });

  it('takes the page’s brand for its accent, unless that cannot be told from the ground', () => {
    const accents = [['#ffffff', '#e65100'], ['#ffffff', '#ffee58'], ['#111111', '#ffee58'], ['#111111', 'var(--none)']].map(([ground = '', brand = '']) =>
      themeFrom(page(false, { '--jp-layout-color0': ground, '--jp-brand-color1': brand })).accent);
    expect(accents).toEqual(['rgb(230, 81, 0)', LIGHT.accent, 'rgb(255, 238, 88)', DARK.accent]);
  });

  it('its texts have AA contrast on paper', () => {
    for (const theme of [LIGHT, DARK]) {
      for (const ink of [theme.ink, theme.faint, theme.error, theme.stopped]) {
        expect(contrast(rgb(ink), rgb(theme.paper))).toBeGreaterThanOrEqual(4.5);
      }
      // Stripes can be told from the lane, and from what they alternate with.
      expect(contrast(rgb(theme.stopped), rgb(theme.lane))).toBeGreaterThanOrEqual(4.5);
    }
  });
});

it('values take their places in a sentence', () => {
  expect(english.__('%2 of %1, %3', 'a', 'b')).toBe('b of a, %3');
});
