// @vitest-environment node
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { asciiBytes, asciiIncludes } from '../../src/lib/ascii';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

it('finds what is found in strings, and does not say where it cannot know', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '-', '[', '@', 'k', '\u212a', '\u0130'), maxLength: 12 });
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'B', '-', 'k'), maxLength: 3 }), (text, wanted) => {
      const expected = isAscii(text) ? text.toLowerCase().includes(wanted.toLowerCase()) : null;
      expect(asciiIncludes(encode(text), asciiBytes(wanted)!)).toBe(expected);
    }),
    { seed: 61, numRuns: 500 }
  );
});

it('what is not ASCII cannot be looked for so', () => {
  expect([asciiBytes('Caf\u00e9'), asciiBytes('Cafe')]).toEqual([null, encode('cafe')]);
});
