// @vitest-environment node
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { KeyTable } from '../../../src/store/tasks/key-table';
import { tupleKey } from '../../../src/wire';
import { keyColumns } from '../../charts/small-batch';
import { keyOf } from '../rows';

type Key = number[] | string;

const key = fc.oneof(
  fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 5 }),
  fc.string({ unit: 'grapheme', maxLength: 12 })
);

it('gives back every key, however the rows were cut into batches and whatever was skipped', () => {
  const batches = fc.array(fc.tuple(fc.array(key, { maxLength: 400 }), fc.nat({ max: 5 })), { maxLength: 5 });
  fc.assert(
    fc.property(batches, list => {
      const table = new KeyTable();
      const kept: Key[] = [];
      for (const [keys, wanted] of list) {
        const skip = Math.min(wanted, keys.length);
        table.append(keyColumns(keys.map(keyOf)), skip);
        kept.push(...keys.slice(skip));
      }
      expect(table.length).toBe(kept.length);
      expect(kept.map((_, row) => table.text(row, 'g'))).toEqual(kept.map(k => (typeof k === 'string' ? k : tupleKey('g', k))));
      const back = kept.map((_, i) => kept.length - 1 - i).filter((_, i) => i % 3 !== 0);
      expect(back.map(row => table.text(row, 'g'))).toEqual(back.map(row => (typeof kept[row] === 'string' ? kept[row] : tupleKey('g', kept[row] ?? []))));
    }),
    { seed: 5, numRuns: 60 }
  );
});
