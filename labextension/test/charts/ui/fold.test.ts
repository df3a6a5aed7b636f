import { expect, it } from 'vitest';

import { fold } from '../../../src/charts/ui/text-table';

it('shows the first rows, and those that must be shown wherever they are', () => {
  const even = (n: number): boolean => n % 2 === 0;
  expect([fold([1, 3, 5, 6, 7, 8], 3, even), fold([1, 2], 3, even), fold([2, 4, 5], 1, even)]).toEqual([
    { shown: [1, 6, 8], rest: [3, 5, 7] }, { shown: [1, 2], rest: [] }, { shown: [2, 4], rest: [5] }
  ]);
});
