// @vitest-environment node
import { expect, it } from 'vitest';

import { formatBytes, formatCount, formatDuration, formatPercent, formatShares, printable } from '../../src/lib/format';
import { sharedCases } from '../shared-cases';

interface Cases {
  durations: [number | null, string][];
  sizes: [number | null, string][];
  counts: [number | null, string][];
  percentages: [number | null, string][];
  shares: [fractions: number[], shown: string[]][];
  texts: [text: string, limit: number, shown: string][];
}

const cases = sharedCases('quantities') as Cases;

it.each([
  ['durations', formatDuration], ['sizes', formatBytes], ['counts', formatCount], ['percentages', formatPercent]
] as const)('%s are said as Python says them', (name, format) => {
  expect(cases[name].map(([value]) => [value, format(value)])).toEqual(cases[name]);
});

it('shares of a whole add up as Python has them, and of nothing are not known', () => {
  expect(cases.shares.map(([fractions]) => [fractions, formatShares(fractions, 1)])).toEqual(cases.shares);
  expect([formatShares([1, 1, 1], 3), formatShares([0], 0)]).toEqual([['34%', '33%', '33%'], ['–']]);
});

it('texts are shown as Python shows them', () => {
  expect(cases.texts.map(([text, limit]) => [text, limit, printable(text, limit)])).toEqual(cases.texts);
});

it('what is no number is not known', () => {
  const formats = [formatDuration, formatBytes, formatCount, formatPercent];
  expect(new Set([NaN, Infinity, -Infinity].flatMap(value => formats.map(format => format(value))))).toEqual(new Set(['–']));
});

it('half of a character is shown as an escape', () => {
  expect(printable('\ud800x')).toBe('\\ud800x');
});

it('a megabyte of text loses its middle', () => {
  const shown = printable(`start${'x'.repeat(1_000_000)}end`, 20);
  expect(shown).toBe('startxxxxxxxxx…xxend');
});
