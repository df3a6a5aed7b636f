// @vitest-environment node
import { expect, it } from 'vitest';

import { formatBytes, formatCount, formatDuration, formatPercent, printable } from '../../src/lib/format';

it('durations have three digits and the unit people would choose', () => {
  const seconds = [0, 4.21e-8, 0.0000421, 0.25, 0.9999, 12.34, 59.94, 59.96, 75, 3600, 7265, 259_200, -0.5, null, NaN, Infinity];
  expect(seconds.map(formatDuration)).toEqual([
    '0 s', '42.1 ns', '42.1 µs', '250 ms', '1000 ms', '12.3 s', '59.9 s', '1 min', '1 min 15 s', '1 h', '2 h 1 min',
    '3 d', '-500 ms', '–', '–', '–'
  ]);
});

it('sizes are decimal', () => {
  expect([0, 999, 1000, 1_234_567, 8e9, 999_600, 1e18, null, NaN].map(formatBytes)).toEqual([
    '0 B', '999 B', '1 kB', '1.23 MB', '8 GB', '1 MB', '1000 PB', '–', '–'
  ]);
});

it('counts separate thousands', () => {
  expect([0, 999, 1_234_567, null].map(formatCount)).toEqual(['0', '999', '1,234,567', '–']);
});

it('only all is 100% and only nothing is 0%', () => {
  expect([0, 0.001, 0.5, 0.999, 1, null].map(formatPercent)).toEqual(['0%', '<1%', '50%', '>99%', '100%', '–']);
});

it('what cannot be seen or reorders text becomes an escape', () => {
  expect(printable('a\nb\u202ec\u0000\u{e0001}d é 漢')).toBe('a\\nb\\u202ec\\x00\\U000e0001d é 漢');
  expect(printable('\ud800x')).toBe('\\ud800x');
});

it('a megabyte of text loses its middle', () => {
  const shown = printable(`start${'x'.repeat(1_000_000)}end`, 20);
  expect(shown).toBe('startxxxxxxxxx…xxend');
});
